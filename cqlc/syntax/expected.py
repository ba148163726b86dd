"""What may stand at a place of the text, in the words of the language's users."""

from __future__ import annotations

from collections.abc import Collection

_EXPRESSION = frozenset(
    (
        "NAME",
        "NUMBER",
        "STRING",
        "(",
        "+",
        "-",
        "NOT",
        "CASE",
        "CAST",
        "DATE",
        "EXISTS",
        "EXTRACT",
        "FALSE",
        "NULL",
        "TIMESTAMP",
        "TOP",
        "TRUE",
    )
)
_QUERY = frozenset(("SELECT", "VALUES", "WITH", "(", "NAME"))
_STREAM_OPERATORS = frozenset(("ISTREAM", "DSTREAM", "RSTREAM", "WSTREAM"))
_DECLARATIONS = frozenset(("CREATE", "REGISTER", "INSERT", "CONSTRAINT"))
OPERATORS = frozenset(
    (
        *("+", "-", "*", "/", "%", "||", "::", "=", "==", "<>", "!=", "<", "<=", ">", ">="),
        *("AND", "OR", "NOT", "IS", "IN", "BETWEEN", "LIKE", "ILIKE", "RLIKE"),
    )
)
_CLASSES = {
    "NAME": "a name",
    "NUMBER": "a number",
    "STRING": "a string",
    "UNIT": "a unit of time",
    "$END": "the end of the statement",
    "ON_OVERLOAD": "ON OVERLOAD",
}
_FREQUENT = ("AS", "FROM", "WHERE", "GROUP", "HAVING", "ORDER", "JOIN", "ON", "UNION")
_SHOWN = 8


def expected(accepts: Collection[str]) -> str:
    """A list of what may come next; long lists are cut."""
    rest = {name for name in accepts if name != "GENERIC" and not name.endswith("_RESTORE")}
    phrases: list[str] = []
    if "GENERIC" in accepts:
        phrases.append("a type")
        rest.discard("NAME")
    for phrase, members, sign in (
        ("a statement", _QUERY | _STREAM_OPERATORS | _DECLARATIONS, "REGISTER"),
        ("an expression", _EXPRESSION, "CASE"),
        ("a query", _QUERY | _STREAM_OPERATORS, "SELECT"),
        ("an operator", OPERATORS, "||"),
    ):
        if sign in rest and (phrase != "an operator" or "+" in rest):
            phrases.append(phrase)
            rest -= members
    phrases += [_CLASSES[name] for name in _CLASSES if name in rest]
    others = sorted(rest - _CLASSES.keys(), key=_rank)
    phrases += [spelling if spelling[0].isalpha() else f"`{spelling}`" for spelling in others]
    if len(phrases) > _SHOWN:
        return ", ".join(phrases[:_SHOWN]) + ", ..."
    return " or ".join(filter(None, (", ".join(phrases[:-1]), phrases[-1])))


def _rank(spelling: str) -> tuple[int, str]:
    """Symbols come first, then the words of nearly every query, then the others."""
    if not spelling[0].isalpha():
        return 0, spelling
    if spelling in _FREQUENT:
        return 1, str(_FREQUENT.index(spelling))
    return 2, spelling
