"""Finds the place of each comment of a statement in the statement's document."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from cqlc.source import Source
from cqlc.syntax.printer.layout import (
    BREAK,
    Anchor,
    Break,
    Doc,
    Group,
    Line,
    Nest,
    Suffix,
)
from cqlc.syntax.scanner import Comment, Token


def weave(doc: Doc, comments: Sequence[Comment], tokens: Sequence[Token], source: Source) -> Doc:
    """The document with the comments at its anchors.

    A comment at the end of a line stays behind the piece that ends there; any other comment gets
    a line of its own before the piece that follows. So a second pass finds every comment where
    the first one has put it.
    """
    if not comments:
        return doc
    anchors = list(_anchors(doc))
    ends = [token.end for token in tokens]
    before: dict[int, list[Doc]] = defaultdict(list)
    after: dict[int, list[Doc]] = defaultdict(list)
    previous, own_line = 0, False
    for comment in comments:
        last = ends[bisect_right(ends, comment.span.start) - 1]
        # A comment right behind another one goes where that one goes.
        if previous < last or "\n" in source.text[previous : comment.span.start]:
            own_line = "\n" in source.text[last : comment.span.start]
        previous = comment.span.end
        behind = None if own_line else _ending(anchors, _without_comma(tokens, ends, last))
        following = _following(anchors, comment.span.end) if behind is None else None
        if following is not None:
            before[following] += (comment.text, BREAK)
        else:
            place = _last(anchors) if behind is None else behind
            after[place].append(Suffix(comment.text))
    return _woven(doc, iter(range(len(anchors))), before, after)


def _without_comma(tokens: Sequence[Token], ends: Sequence[int], end: int) -> int:
    """The end of the token before a comma that ends at `end`; else `end`."""
    index = bisect_right(ends, end) - 1
    return ends[index - 1] if index and tokens[index].text == "," else end


def _anchors(doc: Doc) -> Iterable[Anchor]:
    match doc:
        case str() | Line() | Break() | Suffix():
            pass
        case Nest(inner) | Group(inner):
            yield from _anchors(inner)
        case Anchor(_, inner, _):
            yield doc
            yield from _anchors(inner)
        case tuple():
            for part in doc:
                yield from _anchors(part)


def _ending(anchors: Sequence[Anchor], end: int) -> int | None:
    """The outermost anchor that ends exactly at `end`."""
    places = (i for i, anchor in enumerate(anchors) if anchor.ends_line and anchor.span.end == end)
    return next(places, None)


def _following(anchors: Sequence[Anchor], start: int) -> int | None:
    """The outermost anchor of those that begin first at or after `start`."""
    later = [(a.span.start, i) for i, a in enumerate(anchors) if a.span.start >= start]
    return min(later)[1] if later else None


def _last(anchors: Sequence[Anchor]) -> int:
    """The outermost anchor that ends where the one that begins last ends."""
    last = max((a.span.start, i) for i, a in enumerate(anchors) if a.ends_line)[1]
    return _ending(anchors, anchors[last].span.end) or 0


def _woven(
    doc: Doc,
    numbers: Iterator[int],
    before: Mapping[int, list[Doc]],
    after: Mapping[int, list[Doc]],
) -> Doc:
    match doc:
        case str() | Line() | Break() | Suffix():
            return doc
        case Nest(inner):
            return Nest(_woven(inner, numbers, before, after))
        case Group(inner):
            return Group(_woven(inner, numbers, before, after))
        case Anchor(_, inner, _):
            number = next(numbers)
            inside = _woven(inner, numbers, before, after)
            return (*before.get(number, ()), inside, *after.get(number, ()))
        case tuple():
            return tuple(_woven(part, numbers, before, after) for part in doc)
