"""What a word is where it stands: a keyword, a unit of time, or a name."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from cqlc.syntax.ast import Unit
from cqlc.syntax.scanner import Token

_RESERVED = """
    AND AS BETWEEN BY CASE CREATE DISTINCT DSTREAM DSTREAM_RESTORE ELSE EXCEPT EXISTS FALSE FROM
    GROUP HAVING IN INSERT INTERSECT IS ISTREAM ISTREAM_RESTORE JOIN LIKE NOT NULL ON OR ORDER
    REGISTER RSTREAM RSTREAM_RESTORE SELECT THEN TRUE UNION USING WHEN WHERE WITH WSTREAM
    WSTREAM_RESTORE
"""

RESERVED = frozenset(_RESERVED.split())
"""Words that are names only in quotes. Every other keyword is a name where no keyword may stand."""

UNITS: Mapping[str, Unit] = {
    spelling: unit
    for unit, spellings in {
        Unit.MICROSECOND: "MICROSECOND MICROSECONDS MICROS MICRO US",
        Unit.MILLISECOND: "MILLISECOND MILLISECONDS MILLIS MILLI MS",
        Unit.SECOND: "SECOND SECONDS SECS SEC S",
        Unit.MINUTE: "MINUTE MINUTES MINS MIN",
        Unit.HOUR: "HOUR HOURS HRS HR H",
        Unit.DAY: "DAY DAYS D",
        Unit.WEEK: "WEEK WEEKS",
    }.items()
    for spelling in spellings.split()
}
"""Units of time by their spellings."""

_GENERIC = frozenset(("ARRAY", "STRUCT"))

_FOLLOWED_BY: Mapping[str, tuple[str, ...]] = {
    "ALL": ("(",),
    "ANY": ("(",),
    "SOME": ("(",),
    "CAST": ("(",),
    "CHECK": ("(",),
    "CONSTRAINT": ("WORD REFERENCES", "WORD ORDERED", "WORD CLUSTERED", "QUOTED"),
    "CLUSTERED": ("BY",),
    "DATE": ("STRING",),
    "EXTRACT": ("( WORD FROM",),
    "FILTER": ("(",),
    "KEY": ("(",),
    "ORDERED": ("BY",),
    "OVER": ("(",),
    "PRIMARY": ("KEY (",),
    "REFERENCES": ("WORD (", "QUOTED (", "WORD .", "QUOTED ."),
    "TIMESTAMP": ("STRING", "BY"),
    "TOP": ("NUMBER",),
    "UNIQUE": ("(",),
    "VALUES": ("(",),
}
"""Keywords that are names unless one of these sequences follows, where both may stand."""

_SET_OPERATORS = frozenset(("UNION", "EXCEPT", "MINUS", "INTERSECT"))
_CONSTRAINTS = frozenset(
    ("CHECK", "CLUSTERED", "CONSTRAINT", "KEY", "ORDERED", "PRIMARY", "REFERENCES", "UNIQUE")
)


def terminal(
    tokens: Sequence[Token], index: int, choices: Collection[str], keywords: Mapping[str, str]
) -> str:
    """The terminal of the word `tokens[index]` in a state in which the parser has `choices`."""
    text = tokens[index].text
    # Some letters become ASCII letters in capitals; keywords are not spelled with them.
    word = text.upper() if text.isascii() else text
    keyword = keywords.get(word)
    is_name = "NAME" in choices
    if keyword is None:
        if word in UNITS and "UNIT" in choices:
            return "UNIT"
        if word in _GENERIC and "GENERIC" in choices and _follows(tokens, index, ("<",)):
            return "GENERIC"
        return "NAME"
    if word == "ON" and _follows(tokens, index, ("OVERLOAD SHED",)):
        return "ON_OVERLOAD"
    if keyword in choices and (not is_name or _is_keyword(tokens, index, word)):
        return keyword
    return "NAME" if is_name and word not in RESERVED else keyword


def _is_keyword(tokens: Sequence[Token], index: int, word: str) -> bool:
    """Whether a word is a keyword where a name may stand too."""
    before = tokens[index - 1].text.upper() if index else ""
    if word == "ALL" and before in _SET_OPERATORS:
        return _follows(tokens, index, ("(", "WORD", "QUOTED"))
    if word in _CONSTRAINTS and before not in ("(", ",", ""):
        # Behind a column's type; a column's name stands first.
        return True
    return word not in _FOLLOWED_BY or _follows(tokens, index, _FOLLOWED_BY[word])


def _follows(tokens: Sequence[Token], index: int, sequences: tuple[str, ...]) -> bool:
    return any(_matches(tokens, index + 1, sequence.split()) for sequence in sequences)


def _matches(tokens: Sequence[Token], index: int, wanted: list[str]) -> bool:
    following = tokens[index : index + len(wanted)]
    return len(following) == len(wanted) and all(
        want in (token.type, token.text.upper())
        for want, token in zip(wanted, following, strict=True)
    )
