"""A source file as tokens, without what faults leave alone: comments, texts, preprocessor, asserts.

C++ is read as clang-format leaves it: an operator between two operands has space on both sides,
and a star, an ampersand or an angle bracket of a type has not.
"""

import bisect
import io
import re
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

OPENING = {"(": ")", "[": "]", "{": "}"}
CLOSING = {close: opening for opening, close in OPENING.items()}
ASSERTS = {"assert", "static_assert"}

CPP = re.compile(
    r"""
    (?P<skip>\s+ | //(?:[^\n\\]|\\.|\\\n)* | /\*.*?\*/)
  | (?P<directive>\#(?:[^\n\\/]|\\\n|\\.|/(?!\*)|/\*.*?\*/)*)
  | (?P<text>(?:u8|[uUL])?R"(?P<mark>[^(\s]*)\(.*?\)(?P=mark)"
           | (?:u8|[uUL])?"(?:[^"\\\n]|\\.)*" | (?:u8|[uUL])?'(?:[^'\\\n]|\\.)+')
  | (?P<number>\.?\d(?:[eEpP][+-]|'\w|[\w.])*)
  | (?P<name>[A-Za-z_]\w*)
  | (?P<operator><=>|<<=|>>=|->\*|\.\.\.|::|->|\+\+|--|&&|\|\||<<|>>|[-+*/%&|^<>=!]=|.)
    """,
    re.VERBOSE | re.DOTALL,
)


class Kind(Enum):
    """What a token is. Literals of text and whole asserts are TEXT, which no fault looks into."""

    NAME = "name"
    NUMBER = "number"
    OPERATOR = "operator"
    TEXT = "text"
    LINE_END = "line end"  # of a statement of Python


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of a source, and where it stands."""

    kind: Kind
    text: str
    start: int
    end: int


class Source:
    """The tokens of one file. An index beyond them is that of an empty token."""

    NONE = Token(Kind.TEXT, "", 0, 0)

    def __init__(self, file: str, text: str) -> None:
        self.file = file
        self.text = text
        self.is_python = file.endswith(".py")
        self.tokens = list(_python_tokens(text) if self.is_python else _cpp_tokens(text))
        self._lines = text.split("\n")
        self._mentions: dict[re.Pattern[str], bool] = {}
        self._line_starts = [0, *(found.end() for found in re.finditer("\n", text))]
        self._partner: dict[int, int] = {}
        self._opener: list[int | None] = []
        self._match_brackets()

    def _match_brackets(self) -> None:
        opened: list[int] = []
        for i, token in enumerate(self.tokens):
            if token.text in CLOSING and opened:
                opening = opened.pop()
                self._partner[opening], self._partner[i] = i, opening
            self._opener.append(opened[-1] if opened else None)
            if token.text in OPENING:
                opened.append(i)

    def __getitem__(self, i: int) -> Token:
        """The token at an index."""
        return self.tokens[i] if 0 <= i < len(self.tokens) else self.NONE

    def is_at(self, i: int, *texts: str) -> bool:
        """Whether the tokens from an index on are these."""
        return all(self[i + k].text == text for k, text in enumerate(texts))

    def partner(self, i: int) -> int | None:
        """The index of the other bracket of a pair."""
        return self._partner.get(i)

    def opener(self, i: int) -> int | None:
        """The index of the bracket that a token stands in."""
        return self._opener[i]

    def between(self, first: int, last: int) -> str:
        """The text from one token to another, both included; empty if there is none."""
        return self.text[self[first].start : self[last].end] if first <= last else ""

    def is_spaced(self, i: int) -> bool:
        """Whether a token has space on both sides, as an operator between operands has."""
        token = self[i]
        around = self.text[token.start - 1 : token.start] + self.text[token.end : token.end + 1]
        return len(around) == 2 and around.isspace()

    def line_number(self, offset: int) -> int:
        """The number of the line, from 1, that an offset stands in."""
        return bisect.bisect_right(self._line_starts, offset)

    def lines(self, first: int, last: int) -> str:
        """The text of lines, by their numbers, both included."""
        return "\n".join(self._lines[max(first - 1, 0) : last])

    def mentions(self, pattern: re.Pattern[str]) -> bool:
        """Whether the file has a match of a pattern somewhere."""
        if pattern not in self._mentions:
            self._mentions[pattern] = pattern.search(self.text) is not None
        return self._mentions[pattern]

    def end_of_item(self, i: int, *ends: str) -> int | None:
        """The index of the first token from i on with one of these texts that no bracket encloses.

        None if the bracket around token i closes before.
        """
        while i < len(self.tokens):
            text = self.tokens[i].text
            if text in ends:
                return i
            if text in CLOSING:
                return None
            i = self._partner.get(i, i) + 1 if text in OPENING else i + 1
        return None

    def items(self, opening: int, close: int) -> list[tuple[int, int]]:
        """The first and last tokens of what commas separate between two brackets."""
        found, first, i = [], opening + 1, opening + 1
        angles = 0  # of template arguments, which have no space around them
        while i <= close:
            text = self.tokens[i].text
            if text == "<" and not self.is_spaced(i):
                angles += 1
            elif text in (">", ">>") and angles and not self.is_spaced(i):
                angles -= len(text)
            if i == close or (text == "," and angles <= 0):
                if i > first:
                    found.append((first, i - 1))
                first = i + 1
            i = self._partner.get(i, i) + 1 if text in OPENING else i + 1
        return found


def _cpp_tokens(text: str) -> Iterator[Token]:
    asserted = 0  # brackets that are open in an assert
    in_assert = False
    kinds = {
        "name": Kind.NAME,
        "number": Kind.NUMBER,
        "operator": Kind.OPERATOR,
        "text": Kind.TEXT,
    }
    at = 0
    while at < len(text):
        found = CPP.match(text, at)
        assert found
        which = found.lastgroup if found.lastgroup != "mark" else "text"
        piece = found[0]
        at = found.end()
        if which in ("skip", "directive"):
            continue
        kind = kinds[which or "operator"]
        if kind is Kind.NAME and piece in ASSERTS and not in_assert:
            in_assert, asserted = True, 0
        if in_assert:
            yield Token(Kind.TEXT, piece, found.start(), found.end())
            asserted += (piece == "(") - (piece == ")")
            in_assert = asserted > 0 or piece in ASSERTS
        else:
            yield Token(kind, piece, found.start(), found.end())


def _python_tokens(text: str) -> Iterator[Token]:
    starts = [0, *(found.end() for found in re.finditer("\n", text))]
    kinds = {
        tokenize.NAME: Kind.NAME,
        tokenize.NUMBER: Kind.NUMBER,
        tokenize.OP: Kind.OPERATOR,
        tokenize.STRING: Kind.TEXT,
        tokenize.NEWLINE: Kind.LINE_END,
    }
    # From Python 3.12 on a text with expressions in it is many tokens; here it is none of ours.
    f_string_start = getattr(tokenize, "FSTRING_START", -1)
    f_string_end = getattr(tokenize, "FSTRING_END", -1)
    depth, began = 0, 0
    in_assert = False
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        start = starts[token.start[0] - 1] + token.start[1]
        end = starts[token.end[0] - 1] + token.end[1]
        if token.type == f_string_start:
            began = began if depth else start
            depth += 1
        elif token.type == f_string_end:
            depth -= 1
            if not depth:
                yield Token(Kind.TEXT, text[began:end], began, end)
        elif depth or token.type not in kinds:
            continue
        else:
            kind = kinds[token.type]
            in_assert = kind is not Kind.LINE_END and (in_assert or token.string == "assert")
            yield Token(Kind.TEXT if in_assert else kind, token.string, start, end)
