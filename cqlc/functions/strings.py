"""Functions of strings: positions count characters from 1, patterns are Java's."""

from __future__ import annotations

from cqlc.datatypes import BINARY, BOOLEAN, INT, STRING, Array
from cqlc.functions.build import scalar, takes
from cqlc.functions.signature import Nulls, Result, Shape

_SAME = takes(STRING, gives=STRING)
_PAIR = takes(STRING, STRING, gives=BOOLEAN)
_LENGTHS = (takes(STRING, gives=INT), takes(BINARY, gives=INT))
_CUT = takes(STRING, INT, gives=STRING)
_PAD = takes(STRING, INT, STRING, gives=STRING, optional=1)
_DIGEST = (takes(STRING, gives=STRING), takes(BINARY, gives=STRING))

STRING_FUNCTIONS = (
    scalar(
        "LENGTH",
        *_LENGTHS,
        meaning="the number of characters, or of bytes of a BINARY",
        aliases=("CHAR_LENGTH", "CHARACTER_LENGTH", "LEN"),
    ),
    scalar("OCTET_LENGTH", *_LENGTHS, meaning="the number of bytes in UTF-8"),
    scalar("BIT_LENGTH", *_LENGTHS, meaning="8 times the number of bytes in UTF-8"),
    scalar("UPPER", _SAME, meaning="s in capital letters", aliases=("UCASE",)),
    scalar("LOWER", _SAME, meaning="s in small letters", aliases=("LCASE",)),
    scalar(
        "INITCAP",
        _SAME,
        meaning="each word, cut at spaces, with a capital first and small other letters",
    ),
    scalar("TRIM", _SAME, meaning="s without spaces at both ends"),
    scalar("LTRIM", _SAME, meaning="s without spaces at its start"),
    scalar("RTRIM", _SAME, meaning="s without spaces at its end"),
    scalar(
        "BTRIM",
        takes(STRING, STRING, gives=STRING),
        meaning="s without the characters of the second argument at both ends",
    ),
    scalar("LPAD", _PAD, meaning="s filled up at the start with p (' ') or cut to n characters"),
    scalar("RPAD", _PAD, meaning="s filled up at the end with p (' ') or cut to n characters"),
    scalar("REPEAT", _CUT, meaning="s n times; '' for n <= 0"),
    scalar("SPACE", takes(INT, gives=STRING), meaning="n spaces; '' for n <= 0"),
    scalar(
        "SUBSTRING",
        takes(STRING, INT, INT, gives=STRING, optional=1),
        meaning="n characters (all) from position i; 0 is 1, negative i counts from the end",
        aliases=("SUBSTR", "MID"),
    ),
    scalar("LEFT", _CUT, meaning="the first n characters; '' for n <= 0"),
    scalar("RIGHT", _CUT, meaning="the last n characters; '' for n <= 0"),
    scalar(
        "CONCAT",
        takes(STRING, gives=STRING, repeats=True),
        takes(Shape.ARRAY_T, gives=Result.ARRAY_T, repeats=True),
        meaning="the strings, or arrays, one after the other; also written s || t",
    ),
    scalar(
        "CONCAT_WS",
        takes(STRING, STRING, gives=STRING, repeats=True),
        meaning="the strings that are not NULL with the first argument between them; "
        "NULL if the first is",
        nulls=Nulls.LENIENT,
    ),
    scalar(
        "REPLACE",
        takes(STRING, STRING, STRING, gives=STRING, optional=1),
        meaning="s with every occurrence of a replaced by b (''); s itself for a = ''",
    ),
    scalar(
        "TRANSLATE",
        takes(STRING, STRING, STRING, gives=STRING),
        meaning="s with each character of a replaced by the one at its place in b, or left out",
    ),
    scalar(
        "INSTR",
        takes(STRING, STRING, gives=INT),
        meaning="the position of the first t in s, 0 if there is none",
    ),
    scalar(
        "LOCATE",
        takes(STRING, STRING, INT, gives=INT, optional=1),
        meaning="the position of the first t, the first argument, in s at or after i (1); else 0",
        aliases=("POSITION", "CHARINDEX"),
    ),
    scalar("STARTSWITH", _PAIR, meaning="whether s begins with t"),
    scalar("ENDSWITH", _PAIR, meaning="whether s ends with t"),
    scalar("CONTAINS", _PAIR, meaning="whether t occurs in s"),
    scalar(
        "SPLIT",
        takes(STRING, STRING, INT, gives=Array(STRING), optional=1),
        meaning="the parts of s between matches of a pattern; at most n parts if n > 0",
    ),
    scalar(
        "SPLIT_PART",
        takes(STRING, STRING, INT, gives=STRING),
        meaning="part i of s cut at d, counted from 1 or, if negative, from the end; '' if none",
    ),
    scalar(
        "ASCII", takes(STRING, gives=INT), meaning="the code point of the first character; 0 for ''"
    ),
    scalar(
        "CHR",
        takes(INT, gives=STRING),
        meaning="the character with code n mod 256; '' for n < 0",
        aliases=("CHAR",),
    ),
    scalar("LEVENSHTEIN", takes(STRING, STRING, gives=INT), meaning="the edit distance"),
    scalar(
        "REVERSE",
        _SAME,
        takes(Shape.ARRAY_T, gives=Result.ARRAY_T),
        meaning="the characters of a string, or the elements of an array, backwards",
    ),
    scalar(
        "LIKE",
        takes(STRING, STRING, STRING, gives=BOOLEAN, optional=1),
        meaning="whether s matches a pattern of % and _, escaped by a constant character ('\\')",
        spark="like({*})",
        parametric=True,
    ),
    scalar(
        "ILIKE",
        takes(STRING, STRING, STRING, gives=BOOLEAN, optional=1),
        meaning="LIKE without regard to case",
        spark="ilike({*})",
        parametric=True,
    ),
    scalar(
        "REGEXP_LIKE",
        _PAIR,
        meaning="whether the pattern matches somewhere in s; also written s RLIKE p",
        aliases=("RLIKE", "REGEXP"),
    ),
    scalar(
        "REGEXP_EXTRACT",
        takes(STRING, STRING, INT, gives=STRING, optional=1),
        meaning="group i (1) of the first match; '' if there is no match or the group took no part",
    ),
    scalar(
        "REGEXP_REPLACE",
        takes(STRING, STRING, STRING, gives=STRING),
        meaning="s with every match replaced; $1 in the replacement is group 1",
    ),
    scalar("REGEXP_COUNT", takes(STRING, STRING, gives=INT), meaning="the number of matches"),
    scalar(
        "REGEXP_INSTR",
        takes(STRING, STRING, gives=INT),
        meaning="the position of the first match, 0 if there is none",
    ),
    scalar("BASE64", takes(BINARY, gives=STRING), meaning="the bytes in base 64"),
    scalar(
        "UNBASE64",
        takes(STRING, gives=BINARY),
        meaning="the bytes a base 64 text stands for; NULL if it is none",
        spark="try_to_binary({0}, 'base64')",
        nulls=Nulls.PARTIAL,
    ),
    scalar("MD5", *_DIGEST, meaning="the MD5 digest of the UTF-8 bytes, in hexadecimal"),
    scalar(
        "SHA1",
        *_DIGEST,
        meaning="the SHA-1 digest of the UTF-8 bytes, in hexadecimal",
        aliases=("SHA",),
    ),
    scalar(
        "SHA2",
        takes(STRING, INT, gives=STRING),
        takes(BINARY, INT, gives=STRING),
        meaning="the SHA-2 digest of 224, 256 (also 0), 384 or 512 bits in hexadecimal; else NULL",
        nulls=Nulls.PARTIAL,
    ),
    scalar(
        "URL_ENCODE",
        _SAME,
        meaning="s as application/x-www-form-urlencoded: space is +, UTF-8 as %XX",
    ),
    scalar(
        "URL_DECODE",
        _SAME,
        meaning="the inverse of URL_ENCODE; NULL if s is not such a text",
        spark="try_url_decode({0})",
        nulls=Nulls.PARTIAL,
    ),
    scalar(
        "PARSE_URL",
        takes(STRING, STRING, STRING, gives=STRING, optional=1),
        meaning="the HOST, PATH, QUERY, REF, PROTOCOL, FILE, AUTHORITY or USERINFO of a URL, or "
        "one key of its QUERY; NULL if absent",
        spark="try_parse_url({*})",
        nulls=Nulls.PARTIAL,
    ),
)
