"""Functions of strings. Patterns are Java's, which Python reads alike in what both have."""

from __future__ import annotations

import base64
import binascii
import hashlib
import re
from collections.abc import Callable
from functools import lru_cache
from urllib.parse import quote_plus, unquote_to_bytes, urlsplit

from cqlc.algebra.expr import Value
from cqlc.semantics.values import EvaluationError


def _bytes(text: str | bytes) -> bytes:
    return text.encode() if isinstance(text, str) else text


# ------------------------------------------------------------------------------ pieces of text


def _substring(text: str, position: int, length: int | None = None) -> str:
    start = position - 1 if position > 0 else len(text) + position if position < 0 else 0
    end = len(text) if length is None else start + length
    return text[max(start, 0) : max(end, 0)]


def _right(text: str, count: int) -> str:
    return text[-count:] if count > 0 else ""


def _padding(text: str, length: int, fill: str) -> str:
    missing = length - len(text)
    return (fill * missing)[:missing] if fill else ""


def _lpad(text: str, length: int, fill: str = " ") -> str:
    return (_padding(text, length, fill) + text)[: max(length, 0)]


def _rpad(text: str, length: int, fill: str = " ") -> str:
    return (text + _padding(text, length, fill))[: max(length, 0)]


def _initcap(text: str) -> str:
    return " ".join(word[:1].upper() + word[1:] for word in text.lower().split(" "))


def _concat(*parts: str) -> str:
    return "".join(parts)


def _concat_ws(separator: str | None, *parts: str | None) -> str | None:
    return None if separator is None else separator.join(p for p in parts if p is not None)


def _replace(text: str, old: str, new: str = "") -> str:
    return text.replace(old, new) if old else text


def _translate(text: str, old: str, new: str) -> str:
    table: dict[str, str] = {}
    for place, char in enumerate(old):
        table.setdefault(char, new[place] if place < len(new) else "")
    return "".join(table.get(char, char) for char in text)


def _locate(part: str, text: str, start: int = 1) -> int:
    if start < 1:
        return 0
    return text.find(part, start - 1) + 1 if part else 1


def _split_part(text: str, delimiter: str, number: int) -> str:
    parts = text.split(delimiter) if delimiter else [text]
    place = number - 1 if number > 0 else len(parts) + number
    return parts[place] if number != 0 and 0 <= place < len(parts) else ""


def _levenshtein(left: str, right: str) -> int:
    row = list(range(len(right) + 1))
    for i, a in enumerate(left, 1):
        above, row[0] = row[0], i
        for j, b in enumerate(right, 1):
            above, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, above + (a != b))
    return row[-1]


# ----------------------------------------------------------------------------------- patterns


@lru_cache(maxsize=256)
def _pattern(text: str) -> re.Pattern[str]:
    try:
        return re.compile(re.sub(r"\(\?<(?=[A-Za-z])", "(?P<", text))
    except re.error as error:
        raise EvaluationError(f"'{text}' is not a regular expression: {error}") from None


def _group(match: re.Match[str], number: int) -> str:
    """The text of a group; '' if it took no part."""
    if not 0 <= number <= match.re.groups:
        raise EvaluationError(f"'{match.re.pattern}' has no group {number}")
    return match.group(number) or ""


@lru_cache(maxsize=256)
def _like_pattern(pattern: str, escape: str, flags: int) -> re.Pattern[str]:
    parts: list[str] = []
    chars = iter(pattern)
    for char in chars:
        if char == escape:
            parts.append(re.escape(next(chars, escape)))
        else:
            parts.append({"%": ".*", "_": "."}.get(char, re.escape(char)))
    return re.compile("".join(parts), re.DOTALL | flags)


def _like(text: str, pattern: str, escape: str = "\\") -> bool:
    return _like_pattern(pattern, escape, 0).fullmatch(text) is not None


def _ilike(text: str, pattern: str, escape: str = "\\") -> bool:
    return _like_pattern(pattern, escape, re.IGNORECASE).fullmatch(text) is not None


def _split(text: str, pattern: str, limit: int = -1) -> tuple[str, ...]:
    if text and not pattern:
        count = len(text) if limit <= 0 else min(limit, len(text))
        return (*text[: count - 1], text[count - 1 :])
    parts: list[str] = []
    start = 0
    for match in _pattern(pattern).finditer(text):
        if match.end() == 0 or (match.start() == match.end() == len(text)):
            continue  # an empty match at an end cuts nothing off
        if len(parts) == limit - 1:
            break
        parts.append(text[start : match.start()])
        start = match.end()
    return (*parts, text[start:])


def _regexp_extract(text: str, pattern: str, group: int = 1) -> str:
    match = _pattern(pattern).search(text)
    return _group(match, group) if match else ""


def _regexp_replace(text: str, pattern: str, replacement: str) -> str:
    pieces = re.findall(r"\\(.)|\$(\d)|([^\\$]+)", replacement, re.DOTALL)

    def substitute(match: re.Match[str]) -> str:
        return "".join(
            _group(match, int(group)) if group else escaped + plain
            for escaped, group, plain in pieces
        )

    return _pattern(pattern).sub(substitute, text)


def _regexp_instr(text: str, pattern: str) -> int:
    match = _pattern(pattern).search(text)
    return match.start() + 1 if match else 0


# ---------------------------------------------------------------------------------- encodings


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode()


def _unbase64(text: str) -> bytes | None:
    try:
        return base64.b64decode("".join(text.split()), validate=True)
    except binascii.Error:
        return None


def _sha2(text: str | bytes, bits: int) -> str | None:
    if bits not in (0, 224, 256, 384, 512):
        return None
    return hashlib.new(f"sha{bits or 256}", _bytes(text)).hexdigest()


def _url_encode(text: str) -> str:
    return quote_plus(text, safe="*").replace("~", "%7E")


def _url_decode(text: str) -> str | None:
    if re.search(r"%(?![0-9A-Fa-f]{2})", text):
        return None
    return unquote_to_bytes(text.replace("+", " ")).decode("utf-8", "replace")


def _parse_url(url: str, part: str, key: str | None = None) -> str | None:
    try:
        split = urlsplit(url)
    except ValueError:
        return None
    if key is not None:
        found = re.search(rf"(?:^|&){re.escape(key)}=([^&]*)", split.query)
        return found.group(1) if found and part == "QUERY" else None
    user, at, place = split.netloc.rpartition("@")
    host = place if place.endswith("]") else place.rpartition(":")[0] or place
    query = f"?{split.query}" if split.query else ""
    parts = {
        "HOST": host or None,
        "PATH": split.path,
        "QUERY": split.query or None,
        "REF": split.fragment or None,
        "PROTOCOL": split.scheme or None,
        "FILE": split.path + query,
        "AUTHORITY": split.netloc or None,
        "USERINFO": user if at else None,
    }
    return parts.get(part)


def _of_text(function: Callable[[str], Value]) -> Callable[[str], Value]:
    return function


def _of_data(function: Callable[[str | bytes], Value]) -> Callable[[str | bytes], Value]:
    return function


def _of_texts(function: Callable[[str, str], Value]) -> Callable[[str, str], Value]:
    return function


def _of_text_and_count(function: Callable[[str, int], Value]) -> Callable[[str, int], Value]:
    return function


def _of_count(function: Callable[[int], Value]) -> Callable[[int], Value]:
    return function


STRINGS: dict[str, Callable[..., Value]] = {
    "LENGTH": len,
    "OCTET_LENGTH": _of_data(lambda s: len(_bytes(s))),
    "BIT_LENGTH": _of_data(lambda s: 8 * len(_bytes(s))),
    "UPPER": str.upper,
    "LOWER": str.lower,
    "INITCAP": _initcap,
    "TRIM": _of_text(lambda s: s.strip(" ")),
    "LTRIM": _of_text(lambda s: s.lstrip(" ")),
    "RTRIM": _of_text(lambda s: s.rstrip(" ")),
    "BTRIM": str.strip,
    "LPAD": _lpad,
    "RPAD": _rpad,
    "REPEAT": _of_text_and_count(lambda s, n: s * n),
    "SPACE": _of_count(lambda n: " " * n),
    "SUBSTRING": _substring,
    "LEFT": _of_text_and_count(lambda s, n: s[: max(n, 0)]),
    "RIGHT": _right,
    "CONCAT": _concat,
    "CONCAT_WS": _concat_ws,
    "REPLACE": _replace,
    "TRANSLATE": _translate,
    "INSTR": _of_texts(lambda s, t: s.find(t) + 1),
    "LOCATE": _locate,
    "STARTSWITH": _of_texts(lambda s, t: s.startswith(t)),
    "ENDSWITH": _of_texts(lambda s, t: s.endswith(t)),
    "CONTAINS": _of_texts(lambda s, t: t in s),
    "SPLIT": _split,
    "SPLIT_PART": _split_part,
    "ASCII": _of_text(lambda s: ord(s[0]) if s else 0),
    "CHR": _of_count(lambda n: chr(n % 256) if n >= 0 else ""),
    "LEVENSHTEIN": _levenshtein,
    "REVERSE": _of_text(lambda s: s[::-1]),
    "LIKE": _like,
    "ILIKE": _ilike,
    "REGEXP_LIKE": _of_texts(lambda s, p: _pattern(p).search(s) is not None),
    "REGEXP_EXTRACT": _regexp_extract,
    "REGEXP_REPLACE": _regexp_replace,
    "REGEXP_COUNT": _of_texts(lambda s, p: sum(1 for _ in _pattern(p).finditer(s))),
    "REGEXP_INSTR": _regexp_instr,
    "BASE64": _base64,
    "UNBASE64": _unbase64,
    "MD5": _of_data(lambda s: hashlib.md5(_bytes(s)).hexdigest()),
    "SHA1": _of_data(lambda s: hashlib.sha1(_bytes(s)).hexdigest()),
    "SHA2": _sha2,
    "URL_ENCODE": _url_encode,
    "URL_DECODE": _url_decode,
    "PARSE_URL": _parse_url,
}
