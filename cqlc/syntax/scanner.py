"""Cuts a text into statements and tokens; finds what is broken below the level of grammar."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from cqlc.codes import syntax as codes
from cqlc.diagnostics import Code, Diagnostic, Fix, Label
from cqlc.source import Span

MAX_BRACKETS = 100
"""Brackets inside brackets beyond this are refused; the compiler's walks are recursive."""

MAX_PROBLEMS = 20
"""More mistakes of one statement are not listed."""

_LEXEME = re.compile(
    r"""
      (?P<space>    [\s\ufeff]++ )
    | (?P<comment>  --[^\n]*+ | \#[^\n]*+ | /\*.*?\*/ )
    | (?P<open_comment> /\*.*+ )
    | (?P<word>     [^\W\d][\w$]*+ | \$[\w$]++ )
    | (?P<number>   (?:[0-9]++(?:\.[0-9]*+)?|\.[0-9]++)(?:[eE][+-]?[0-9]++)? )
    | (?P<string>   '[^'\n]*+(?:''[^'\n]*+)*+' )
    | (?P<quoted>   "[^"\n]*+(?:""[^"\n]*+)*+" | `[^`\n]*+(?:``[^`\n]*+)*+` )
    | (?P<open_string> ['"`][^\n]*+ )
    | (?P<symbol>   <> | != | <= | >= | == | \|\| | :: | [-+*/%=<>(),.:;\[\]] )
    | (?P<odd>      && | . )
    """,
    re.VERBOSE | re.DOTALL | re.MULTILINE,
)

_COLON = re.compile(r"[ \t]*+:(?!:)[ \t]*+")
_COMMANDS = frozenset(("table", "source", "vquery", "vtable", "query", "dest"))

CLOSING = {"(": ")", "[": "]"}

_MEANT = {
    **dict.fromkeys("\u2018\u2019\u201a\u201b\u00b4", "'"),
    **dict.fromkeys("\u201c\u201d\u201e\u201f", '"'),
    **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2212", "-"),
    **dict.fromkeys("\u200b\u200c\u200d\u2060", ""),
    **{"\uff08": "(", "\uff09": ")", "\uff0c": ",", "\uff1b": ";"},
    **{"≤": "<=", "≥": ">=", "≠": "<>", "×": "*", "÷": "/", "&&": "AND"},
}
"""Characters that editors and other languages put in the place of CQL's."""


@dataclass(slots=True)
class Token:
    """A piece of text with its place; `type` is a terminal of the grammar, or WORD before the
    parser has decided what the word is."""

    type: str
    text: str
    start: int
    end: int

    @property
    def span(self) -> Span:
        """Where the token stands."""
        return Span(self.start, self.end)


@dataclass(frozen=True, slots=True)
class Comment:
    """A comment as written, without the white space around it."""

    text: str
    span: Span


@dataclass(slots=True)
class Chunk:
    """The tokens of one statement and what is broken in it.

    `command` is the prototype's word before a colon (`query`, `source`, ...); the text after a
    `source :` or `dest :` is the path, kept as the only token.
    """

    start: int
    end: int = 0
    tokens: list[Token] = field(default_factory=list[Token])
    problems: list[Diagnostic] = field(default_factory=list[Diagnostic])
    unclosed: Token | None = None
    command: str | None = None
    ended: bool = False


@dataclass(frozen=True, slots=True)
class Scan:
    """A text cut into statements and comments."""

    chunks: tuple[Chunk, ...]
    comments: tuple[Comment, ...]


class _Scanner:
    """The state of one pass over a text."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.chunk = Chunk(0)
        self.chunks: list[Chunk] = []
        self.comments: list[Comment] = []
        self.brackets: list[Token] = []
        self.line_is_empty = True

    def run(self) -> Scan:
        """Reads the whole text once."""
        at = 0
        while match := _LEXEME.match(self.text, at):
            at = self._lexeme(match)
        self._close(len(self.text), ended=False)
        return Scan(tuple(self.chunks), tuple(self.comments))

    def _lexeme(self, match: re.Match[str]) -> int:
        """Takes one lexeme and says where the next one begins."""
        kind, text, start, end = match.lastgroup, match[0], match.start(), match.end()
        first_of_line, self.line_is_empty = self.line_is_empty, False
        match kind:
            case "space":
                self.line_is_empty = first_of_line or "\n" in text
            case "word":
                if first_of_line and text.lower() in _COMMANDS and not self.brackets:
                    colon = _COLON.match(self.text, end)
                    if colon:
                        return self._command(text.lower(), start, colon.end())
                self._add(Token("WORD", text, start, end))
            case "symbol":
                self._symbol(Token(text, text, start, end))
            case "number" | "string" | "quoted":
                self._add(Token(kind.upper(), text, start, end))
            case "comment" | "open_comment":
                self._comment(text, start, kind == "open_comment")
            case "open_string":
                self._open_string(text, start)
            case _:
                self._odd(text, start)
        return end

    def _add(self, token: Token) -> None:
        if not self.chunk.tokens and self.chunk.command is None:
            self.chunk.start = token.start
        self.chunk.tokens.append(token)

    def _symbol(self, token: Token) -> None:
        text = token.text
        if text == ";":
            self._close(token.end, ended=True)
            return
        self._add(token)
        if text in CLOSING:
            self.brackets.append(token)
            if len(self.brackets) == MAX_BRACKETS + 1:
                self._problem(
                    codes.TOO_DEEP,
                    f"brackets are nested more than {MAX_BRACKETS} deep",
                    Label(token.span, "one bracket too many"),
                    help="name inner queries with CREATE VIEW or WITH",
                )
        elif text in (")", "]"):
            self._closing(token)

    def _closing(self, token: Token) -> None:
        opening = self.brackets.pop() if self.brackets else None
        if opening is None:
            self._problem(
                codes.UNMATCHED_BRACKET,
                f"`{token.text}` closes nothing",
                Label(token.span, "no bracket is open here"),
                help="remove it, or add the opening bracket",
            )
        elif CLOSING[opening.text] != token.text:
            wanted = CLOSING[opening.text]
            self._problem(
                codes.UNMATCHED_BRACKET,
                f"`{opening.text}` is closed by `{token.text}`",
                Label(token.span, f"`{wanted}` is expected here"),
                related=(Label(opening.span, "opened here"),),
                help=f"write `{wanted}`",
                fix=Fix(f"write `{wanted}`", token.span, wanted),
            )

    def _close(self, end: int, *, ended: bool) -> None:
        """Ends the statement at `end`; an empty one is forgotten."""
        chunk = self.chunk
        if self.brackets:
            chunk.unclosed = self.brackets[-1]
        if chunk.tokens or chunk.problems or chunk.command is not None:
            chunk.end = end if ended or not chunk.tokens else chunk.tokens[-1].end
            chunk.ended = ended
            self.chunks.append(chunk)
        self.brackets = []
        self.chunk = Chunk(end)

    def _command(self, word: str, start: int, body: int) -> int:
        self._close(start, ended=False)
        self.chunk.start = start
        self.chunk.command = word
        if word not in ("source", "dest"):
            return body
        end = self.text.find("\n", body)
        end = len(self.text) if end < 0 else end
        path = self.text[body:end].rstrip().removesuffix(";").rstrip()
        self._add(Token("PATH", path, body, body + len(path)))
        self._close(end, ended=True)
        return end

    def _comment(self, text: str, start: int, unclosed: bool) -> None:
        self.comments.append(Comment(text.rstrip(), Span(start, start + len(text))))
        if unclosed:
            self._problem(
                codes.UNCLOSED_COMMENT,
                "this comment is never closed",
                Label(Span(start, start + 2), "opened here"),
                help="end it with `*/`",
            )

    def _open_string(self, text: str, start: int) -> None:
        what = "string" if text[0] == "'" else "quoted name"
        self._problem(
            codes.UNCLOSED_STRING,
            f"this {what} is not closed on its line",
            Label(Span(start, start + len(text)), f"no second {text[0]} follows"),
            help=f"end it with {text[0]}; a {text[0]} inside is written twice",
        )
        if text.rstrip().endswith(";"):
            # Most likely the end of the statement; so the next one is read by itself.
            self._close(start + len(text), ended=True)

    def _odd(self, text: str, start: int) -> None:
        span = Span(start, start + len(text))
        meant = _MEANT.get(text)
        action = f"write {meant}" if meant else "remove it"
        self._problem(
            codes.ODD_CHARACTER,
            f"{shown(text)} is not part of the language",
            Label(span, "this character"),
            help=action if meant else f"{action}; names with such characters are quoted",
            fix=Fix(action, span, meant) if meant is not None else None,
        )

    def _problem(
        self,
        code: Code,
        message: str,
        primary: Label,
        *,
        related: tuple[Label, ...] = (),
        help: str = "",
        fix: Fix | None = None,
    ) -> None:
        if len(self.chunk.problems) < MAX_PROBLEMS:
            self.chunk.problems.append(Diagnostic(code, message, primary, related, help, fix))


def shown(text: str) -> str:
    """A text for a message: quoted, cut short, and by number where it cannot be printed."""
    if len(text) == 1 and not text.isprintable():
        return f"the character U+{ord(text):04X}"
    clean = "".join(c if c.isprintable() else "�" for c in text[:40])
    return f"`{clean}…`" if len(text) > 40 else f"`{clean}`"


def scan(text: str) -> Scan:
    """The statements and comments of a text."""
    return _Scanner(text).run()
