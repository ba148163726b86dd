"""Joins in a short notation, random ones and families of them, for tests and benchmarks."""

from __future__ import annotations

import random
from itertools import combinations
from types import ModuleType

from cqlc.analysis import punctuation
from cqlc.analysis.punctuation import JoinQuery


def query(
    streams: str, predicates: str = "", schemes: str = "", api: ModuleType = punctuation
) -> JoinQuery:
    """A join such as `query("S T", "S.A=T.A", "S{A} T{A,B}")`; `e:E` is an input `e` reading `E`.

    `S~` marks an input whose rows expire, `S#` one of bounded size, `S!` a constant one; `K:S{A}`
    is a key, `W:` a watermark, `C:` a clustering, `O:` an order.
    """
    return api.JoinQuery(
        tuple(_stream(text, api) for text in streams.split()),
        tuple(_equality(text, api) for text in predicates.split()),
        tuple(_scheme(text, api) for text in schemes.split()),
    )


def attribute(text: str, api: ModuleType = punctuation) -> punctuation.Attribute:
    """`S.A`."""
    stream, column = text.split(".")
    return api.Attribute(stream, column)


def _stream(text: str, api: ModuleType) -> punctuation.JoinStream:
    fates = {"~": api.Fate.EXPIRES, "#": api.Fate.BOUNDED, "!": api.Fate.FIXED}
    fate = fates.get(text[-1], api.Fate.KEPT)
    name, _, source = text.rstrip("~#!").partition(":")
    return api.JoinStream(name, source or name, fate)


def _equality(text: str, api: ModuleType) -> punctuation.Equality:
    left, right = text.split("=")
    return api.Equality(attribute(left, api), attribute(right, api))


def _scheme(text: str, api: ModuleType) -> punctuation.PunctuationScheme:
    kinds = {
        "K": api.Closing.KEY,
        "W": api.Closing.WATERMARK,
        "C": api.Closing.CLUSTER,
        "O": api.Closing.ORDER,
        "": api.Closing.PUNCTUATION,
    }
    kind, _, rest = text.rpartition(":")
    source, columns = rest.rstrip("}").split("{")
    return api.PunctuationScheme(source, tuple(columns.split(",")), kinds[kind])


def random_query(random: random.Random, api: ModuleType = punctuation) -> JoinQuery:
    """A small join: 2 to 4 inputs of up to 3 columns, schemes of one or two columns."""
    count = random.randint(2, 4)
    names = [f"S{i}" for i in range(1, count + 1)]
    columns = "ABC"[: random.randint(1, 3)]
    pairs = list(combinations(names, 2))
    predicates = [
        f"{a}.{random.choice(columns)}={b}.{random.choice(columns)}"
        for a, b in random.choices(pairs, k=random.randint(1, count + 2))
    ]
    schemes: list[str] = []
    for name in names:
        for _ in range(random.choice((0, 1, 1, 2))):
            chosen = random.sample(columns, min(len(columns), random.choice((1, 1, 2))))
            schemes.append(f"{name}{{{','.join(sorted(chosen))}}}")
    return query(" ".join(names), " ".join(predicates), " ".join(dict.fromkeys(schemes)), api)


def random_extended_query(random: random.Random, api: ModuleType = punctuation) -> JoinQuery:
    """As `random_query`, with windows, keys, watermarks, known values, bounds and self-joins."""
    plain = random_query(random, api)
    names = [s.name for s in plain.streams]
    fates = [api.Fate.KEPT] * 4 + [api.Fate.EXPIRES, api.Fate.BOUNDED, api.Fate.FIXED]
    sources = {n: random.choice(names) if random.random() < 0.15 else n for n in names}
    streams = tuple(api.JoinStream(n, sources[n], random.choice(fates)) for n in names)
    kinds = [api.Closing.PUNCTUATION] * 4 + [*api.Closing]
    schemes = tuple(
        api.PunctuationScheme(s.source, s.columns, random.choice(kinds)) for s in plain.schemes
    )
    every = [api.Attribute(n, c) for n in names for c in "ABC"]
    bounds = tuple(api.Bound(*random.sample(every, 2)) for _ in range(random.choice((0, 0, 1, 2))))
    known = frozenset(random.sample(every, random.choice((0, 0, 0, 1))))
    bundled = (frozenset(random.sample(names, 2)),) if random.random() < 0.2 else ()
    keys = tuple(random.sample(every, random.choice((1, 2))))
    groupings = (api.Grouping("groups", keys),) if random.random() < 0.3 else ()
    return api.JoinQuery(streams, plain.predicates, schemes, known, bounds, bundled, groupings)


def ring(count: int, *, punctuated: bool = True) -> JoinQuery:
    """A cyclic join of `count` inputs, each joined with the next on a column of their own."""
    names = [f"S{i}" for i in range(count)]
    predicates = [f"S{i}.A{i}=S{(i + 1) % count}.A{i}" for i in range(count)]
    schemes = [f"S{i}{{A{i}}}" for i in range(count)] if punctuated else []
    return query(" ".join(names), " ".join(predicates), " ".join(schemes))


def large_query(
    count: int, predicates: int, schemes: int, seed: int, columns: int = 20
) -> JoinQuery:
    """A connected random join of many inputs, for measuring the time a check takes."""
    generator = random.Random(seed)
    pairs = [(i, generator.randrange(i)) for i in range(1, count)]
    pairs += [tuple(generator.sample(range(count), 2)) for _ in range(predicates - len(pairs))]
    written = [
        f"S{a}.c{generator.randrange(columns)}=S{b}.c{generator.randrange(columns)}"
        for a, b in pairs
    ]
    ends = sorted({end for text in written for end in text.split("=")})
    chosen: list[str] = []
    for _ in range(schemes):
        stream, column = generator.choice(ends).split(".")
        others = [e.split(".")[1] for e in ends if e.startswith(stream + ".")]
        both = {column, generator.choice(others)} if generator.random() < 0.2 else {column}
        chosen.append(f"{stream}{{{','.join(sorted(both))}}}")
    names = " ".join(f"S{i}" for i in range(count))
    return query(names, " ".join(written), " ".join(chosen))
