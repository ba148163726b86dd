"""Mistakes in the text (CQL0xxx)."""

from cqlc.diagnostics import Code

UNEXPECTED = Code("CQL0001", "something else is expected here")
UNCLOSED_STRING = Code("CQL0002", "string or quoted name is not closed")
UNCLOSED_COMMENT = Code("CQL0003", "comment is not closed")
UNBALANCED = Code("CQL0004", "brackets do not match")
ODD_CHARACTER = Code("CQL0005", "character is not part of the language")
TOO_DEEP = Code("CQL0006", "text is nested too deeply")
TOO_LONG = Code("CQL0007", "text is too long")
TOO_MANY = Code("CQL0008", "too many mistakes")
BAD_TYPE = Code("CQL0009", "type is written wrongly")
