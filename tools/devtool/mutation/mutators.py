"""The faults that a line can have: each mutator yields the edits that it would make at one token.

An edit keeps the number of lines, so that what a compiler notes of lines stays as it is. An edit
has a kind, such as "< to <=", for faults are drawn evenly among the kinds of a mutator.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from devtool.mutation.source import Kind, Source


@dataclass(frozen=True, slots=True)
class Edit:
    """Another text for what stands between two offsets of a file."""

    start: int
    end: int
    text: str
    kind: str


Mutator = Callable[[Source, int], Iterator[Edit]]

# Names after which no statement begins, or which begin one that is no call and no assignment.
KEYWORDS = set(
    re.findall(
        r"\w+",
        """
        alignas and auto await break case catch class concept const consteval constexpr continue
        def default del delete do elif else enum except explicit export extern finally for
        friend from global goto if import in inline is lambda namespace new noexcept nonlocal
        not operator or override pass private protected public raise requires return sizeof
        static struct switch template throw try typedef typename union using virtual volatile
        while with yield
        """,
    )
)
SIGNS = {
    "+": "-",
    "-": "+",
    "*": "/",
    "/": "*",
    "%": "*",
    "//": "*",
    "+=": "-=",
    "-=": "+=",
    "*=": "/=",
}
BOUNDS = {"<": "<=", "<=": "<", ">": ">=", ">=": ">"}
BINDS_TIGHTER = ("*", "/", "%", "//", "**", "@")
ASSIGNMENTS = ("=", "+=", "-=", "*=", "/=", "|=", "&=", "^=", "<<=", ">>=", "//=")
# What a record of an op cannot be registered without, and what only readers of its page miss.
NEEDED_FIELDS = {"name", "inputs", "outputs", "types", "summary", "details", "python"}
AXIS = re.compile(
    r"axis|axes|(^|_)(dim|index|input|output|operand|shape|size|dtype|in|out|dx|dy)s?$"
)
BROADCAST = re.compile(r"broadcast|stride", re.IGNORECASE)
SIZES = re.compile(r"size|dim|stride|broadcast|rank|shape", re.IGNORECASE)
STEP = re.compile(r"stride|step", re.IGNORECASE)
CACHES = re.compile(r"^graven/(function|runtime)/|cache|key|hash|index|_retracing|_trace_types")
KEY = re.compile(r"key|word|hash|row|mix|skeleton|fingerprint", re.IGNORECASE)
ADDS = re.compile(r"^(push_back|emplace_back|insert|emplace|append|mix|write\w*|add\w*|put\w*)$")
# Functions that mean the same with their arguments swapped.
COMMUTES = re.compile(
    r"(^|_|logical)(min|max|minimum|maximum|or|and|equal|wrap_add|wrap_mul\w*|hash_combine)$",
    re.IGNORECASE,
)
INVALIDATES = re.compile(
    r"^(clear|erase|reset|forget|invalidate|remove|drop|evict|release|pop|pop_back|discard|unlink|"
    r"retire|expire)(_|$)"
)


def _edit(source: Source, first: int, last: int, text: str, kind: str) -> Edit:
    """An edit of the tokens from one to another, both included."""
    return Edit(source[first].start, source[last].end, text, kind)


def _without(source: Source, first: int, last: int, kind: str, rest: str = "") -> Edit:
    """An edit that leaves of some tokens nothing but a rest and the ends of their lines."""
    old = source.between(first, last)
    return _edit(source, first, last, rest + "\n" * old.count("\n"), kind)


def _is_binary(source: Source, i: int) -> bool:
    return source[i].kind is Kind.OPERATOR and source.is_spaced(i)


def _begins_line(source: Source, i: int) -> bool:
    """Whether a statement of Python begins here."""
    return i == 0 or source[i - 1].kind is Kind.LINE_END


def _chain_end(source: Source, i: int) -> int | None:
    """The index after a chain as `a.b(c)[d]->e`, which token i begins; None if it begins none."""
    if source[i].kind is not Kind.NAME or source[i].text in KEYWORDS:
        return None
    i += 1
    while True:
        text = source[i].text
        if text in (".", "->", "::") and source[i + 1].kind is Kind.NAME:
            i += 2
        elif text in ("(", "["):
            partner = source.partner(i)
            if partner is None:
                return None
            i = partner + 1
        elif text == "<" and not source.is_spaced(i) and not source.is_python:
            close = _template_end(source, i)
            if close is None:
                return i
            i = close + 1
        else:
            return i


def _template_end(source: Source, i: int) -> int | None:
    """The index of the bracket that closes the template arguments of a call or of a scope."""
    depth = 0
    for k in range(i, min(i + 30, len(source.tokens))):
        depth += (source[k].text == "<") - source[k].text.count(">")
        if depth <= 0:
            return k if source[k + 1].text in ("(", "::") else None
        if source[k].text in (";", "{"):
            return None
    return None


def _statement(source: Source, i: int) -> tuple[int, int, str] | None:
    """A statement that is a lone call or assignment and begins at i.

    Gives the last of its tokens, the one after the call or the left side, and which it is.
    """
    if source.is_python:
        begins = _begins_line(source, i)
    else:
        begins = source[i - 1].text in (";", "{", "}", ")", "else")
    after = _chain_end(source, i) if begins else None
    if after is None:
        return None
    if source.is_python:
        ends = source[after].kind is Kind.LINE_END
        last = after - 1
    else:
        ends = source[after].text == ";"
        last = after
    if ends and source[after - 1].text == ")":
        return last, after, "call"
    if source[after].text in ASSIGNMENTS:
        if source.is_python:
            end = after
            while source[end].kind is not Kind.LINE_END and end < len(source.tokens):
                end += 1
            return end - 1, after, "assignment"
        found = source.end_of_item(after, ";")
        if found is not None:
            return found, after, "assignment"
    return None


def _drop_statement(source: Source, first: int, last: int, kind: str) -> Edit:
    return _without(source, first, last, kind, "pass" if source.is_python else ";")


def _last_name(source: Source, first: int, after: int) -> str:
    """The name of the function of a lone call, `c` in `a.b().c(d)`."""
    opening = source.partner(after - 1)
    return source[opening - 1].text if opening is not None and opening > first else ""


def sign(source: Source, i: int) -> Iterator[Edit]:
    """Another operator of arithmetic, or a number without its minus."""
    token = source[i]
    if token.kind is not Kind.OPERATOR:
        return
    if token.text in SIGNS and _is_binary(source, i):
        yield _edit(source, i, i, SIGNS[token.text], f"{token.text} to {SIGNS[token.text]}")
    elif token.text == "-" and source.text[token.end : token.end + 1].strip():
        before = source[i - 1]
        if before.kind is Kind.OPERATOR and before.text not in (")", "]"):
            yield _edit(source, i, i, "", "a minus dropped")


def bound(source: Source, i: int) -> Iterator[Edit]:
    """A comparison that takes the bound in or leaves it out, or a bound that is off by one."""
    token = source[i]
    if not _is_binary(source, i):
        return
    if token.text in BOUNDS:
        yield _edit(source, i, i, BOUNDS[token.text], f"{token.text} to {BOUNDS[token.text]}")
        return
    is_by_one = token.text in ("+", "-") and source.is_at(i + 1, "1")
    if is_by_one and source[i + 2].text not in BINDS_TIGHTER:
        yield Edit(source[i - 1].end, source[i + 1].end, "", f"{token.text} 1 dropped")


def negated_condition(source: Source, i: int) -> Iterator[Edit]:
    """A condition that holds where it did not."""
    token = source[i]
    if token.text in ("==", "!=") and _is_binary(source, i):
        other = "!=" if token.text == "==" else "=="
        yield _edit(source, i, i, other, f"{token.text} to {other}")
    elif source.is_python:
        yield from _negated_in_python(source, i)
    elif token.text == "!" and token.kind is Kind.OPERATOR:
        yield _edit(source, i, i, "", "! dropped")
    elif token.text == "if" and token.kind is Kind.NAME:
        opening = i + 2 if source.is_at(i + 1, "constexpr") else i + 1
        close = source.partner(opening)
        if not source.is_at(opening, "(") or close is None:
            return
        semicolon = source.end_of_item(opening + 1, ";")
        first = opening + 1 if semicolon is None else semicolon + 1
        if source.end_of_item(first, "=") is None and first < close:
            yield _edit(source, first, close - 1, f"!({source.between(first, close - 1)})", "if")


def _negated_in_python(source: Source, i: int) -> Iterator[Edit]:
    token = source[i]
    if token.kind is not Kind.NAME:
        return
    if token.text in ("if", "elif", "while") and _begins_line(source, i):
        colon = source.end_of_item(i + 1, ":")
        if colon is not None:
            old = source.between(i + 1, colon - 1)
            yield _edit(source, i + 1, colon - 1, f"not ({old})", token.text)
    elif token.text == "is":
        if source.is_at(i + 1, "not"):
            yield _edit(source, i, i + 1, "is", "is not to is")
        else:
            yield _edit(source, i, i, "is not", "is to is not")
    elif token.text == "not" and source[i - 1].text != "is" and source[i + 1].text != "in":
        yield Edit(token.start, source[i + 1].start, "", "not dropped")


def missed_broadcast(source: Source, i: int) -> Iterator[Edit]:
    """A size of one that is no longer seen, or a step through memory that is not taken."""
    token = source[i]
    if token.text not in ("0", "1", "*") or not source.mentions(BROADCAST):
        return
    if token.text == "1" and token.kind is Kind.NUMBER:
        is_dim = source.is_at(i - 2, "Dim", "(") and source.is_at(i + 1, ")")
        compared = source[i - 3 if is_dim else i - 1].text
        line = source.line_number(token.start)
        if compared in ("==", "!=") and SIZES.search(source.lines(line - 2, line + 2)):
            yield _edit(source, i, i, "2", f"{compared} 1 to {compared} 2")
    elif token.text == "0" and source.is_at(i - 1, "?", "0", ":"):
        line = source.line_number(token.start)
        if SIZES.search(source.lines(line, line)):
            yield _edit(source, i, i, "1", "a step of 0 to 1")
    elif token.text == "*" and _is_binary(source, i):
        after = _chain_end(source, i + 1)
        if after is not None and STEP.search(source.between(i + 1, after - 1)):
            kind = "a product with a step dropped"
            yield Edit(source[i - 1].end, source[after - 1].end, "", kind)


def dropped_effect(source: Source, i: int) -> Iterator[Edit]:
    """A statement that is not there, or a record that keeps an effect to itself."""
    if source[i].text == "." and source.is_at(i + 1, "effects", "="):
        yield from _drop_field(source, i, "an effects field")
        return
    statement = _statement(source, i)
    if statement is not None:
        last, _, which = statement
        yield _drop_statement(source, i, last, f"a lone {which}")


def dropped_field(source: Source, i: int) -> Iterator[Edit]:
    """A record that leaves a field at its default."""
    if source[i].text == "." and source.is_at(i + 2, "="):
        name = source[i + 1].text
        if name not in NEEDED_FIELDS and name != "effects":
            yield from _drop_field(source, i, f".{name}")


def _drop_field(source: Source, i: int, kind: str) -> Iterator[Edit]:
    opener = source.opener(i)
    if opener is None or source[opener].text != "{" or source[i - 1].text not in ("{", ","):
        return
    comma = source.end_of_item(i, ",")
    close = source.partner(opener)
    last = comma if comma is not None else (close or 0) - 1
    if last > i:
        yield _without(source, i, last, kind)


def wrong_axis(source: Source, i: int) -> Iterator[Edit]:
    """Another axis, input or output than the one that is meant."""
    token = source[i]
    if token.kind is not Kind.NUMBER:
        return
    if token.text == "1" and source.is_at(i - 1, "-"):
        rank = i - 4 if source.is_at(i - 3, "(", ")") else i - 2
        if source[rank].kind is Kind.NAME and source[rank].text.endswith(("rank", "ndim")):
            yield Edit(source[i - 2].end, token.end, "", "rank - 1 to rank")
    if token.text not in ("0", "1"):
        return
    other = "1" if token.text == "0" else "0"
    kind = f"{token.text} to {other}"
    before, holder = source[i - 1].text, source[i - 2]
    if before == "[" and source.is_at(i + 1, "]"):
        if holder.kind is Kind.NAME or holder.text in (")", "]"):
            yield _edit(source, i, i, other, f"[{token.text}] to [{other}]")
        return
    is_named = re.search(
        r"(axis|axes|dim)=\*/$", source.text[max(0, token.start - 9) : token.start]
    )
    is_of = before in ("(", "=", "==") and holder.kind is Kind.NAME and AXIS.search(holder.text)
    if is_named or is_of:
        yield _edit(source, i, i, other, kind)


def stale_row(source: Source, i: int) -> Iterator[Edit]:
    """A cache that forgets to tell two keys apart, or to let go of what no longer holds."""
    if not CACHES.search(source.file):
        return
    statement = _statement(source, i)
    if statement is not None:
        last, after, which = statement
        name = _last_name(source, i, after) if which == "call" else ""
        if INVALIDATES.search(name):
            yield _drop_statement(source, i, last, "an invalidation dropped")
        elif ADDS.search(name) and KEY.search(source.between(i, last)):
            yield _drop_statement(source, i, last, "a word of a key dropped")
    elif source[i].text in ("&&", "and"):
        ends = ("&&", "||", ";", "and", "or", ":", "?")
        end = source.end_of_item(i + 1, *ends)
        opener = source.opener(i)
        if end is None and opener is not None:
            end = source.partner(opener)
        compares = end is not None and source.end_of_item(i + 1, "==")
        if end is not None and compares and compares < end:
            line = source.line_number(source[i].start)
            if re.search(r"\breturn\b", source.lines(line - 1, line)):
                yield _without(source, i, end - 1, "a comparison of keys dropped")


def swapped_arguments(source: Source, i: int) -> Iterator[Edit]:
    """The two arguments of a call in the other order."""
    name = source[i - 1]
    close = source.partner(i)
    if source[i].text != "(" or name.kind is not Kind.NAME or close is None:
        return
    if name.text in KEYWORDS or source[i - 2].text in ("def", "class"):
        return
    if COMMUTES.search(name.text):
        return
    arguments = source.items(i, close)
    if len(arguments) != 2:
        return
    (a, b), (c, d) = arguments
    if any(_declares(source, *argument) for argument in arguments):
        return
    first, second = source.between(a, b), source.between(c, d)
    # Those that look unlike have types that are unlike, and seldom build.
    if first != second and _looks_like(source, a, b) == _looks_like(source, c, d):
        middle = source.text[source[b].end : source[c].start]
        yield _edit(source, a, d, f"{second}{middle}{first}", "two arguments")


def _looks_like(source: Source, first: int, last: int) -> str:
    """The sort of an argument: a lambda, a list, an address, a literal, or another expression."""
    token = source[first]
    if token.text in ("[", "{", "&"):
        return token.text
    return token.kind.value if first == last and token.kind is not Kind.NAME else "expression"


def _declares(source: Source, first: int, last: int) -> bool:
    """Whether an argument declares a parameter, or has a name or a star that ties it to a place."""
    if source[first].text in ("const", "*", "**", "auto") and source[first].text != "*":
        return True
    if source.is_python:
        return source[first].text == "*" or source.end_of_item(first, "=") in range(first, last)
    ends_in_name = source[last].kind is Kind.NAME and last > first
    before = source[last - 1]
    return ends_in_name and (
        (before.kind is Kind.NAME and before.text not in KEYWORDS)
        or (before.text in ("&", "*", "&&", ">") and not source.is_spaced(last - 1))
    )


def and_or(source: Source, i: int) -> Iterator[Edit]:
    """One condition is enough where both must hold, or the reverse."""
    pairs = {"&&": "||", "||": "&&", "and": "or", "or": "and"}
    text = source[i].text
    if text in pairs and source.is_spaced(i) and (source.is_python or text in ("&&", "||")):
        yield _edit(source, i, i, pairs[text], f"{text} to {pairs[text]}")


def constant_off_by_one(source: Source, i: int) -> Iterator[Edit]:
    """A number of a table, or one that has a name, that is off by one in a digit."""
    token = source[i]
    if token.kind is not Kind.NUMBER:
        return
    first = i - 1 if source.is_at(i - 1, "-") else i
    before, after = source[first - 1].text, source[i + 1].text
    opener = source.opener(i)
    name = source[first - 2].text
    is_named = re.match(r"k[A-Z]\w*$|_?[A-Z][A-Z_0-9]+$", name) is not None
    kind = ""
    if before == "=" and is_named and (after in (";", ",") or source.is_python):
        kind = "of a named constant"
    elif opener is not None and source[opener].text in ("{", "["):
        close = source.partner(opener)
        is_item = before in (",", "{", "[", ":") and after in (",", "}", "]")
        if is_item and close is not None and _numbers(source, opener, close) >= 3:
            kind = "of a table"
    if kind:
        yield _edit(source, i, i, off_by_one(token.text), kind)


def _numbers(source: Source, opening: int, close: int) -> int:
    return sum(source[k].kind is Kind.NUMBER for k in range(opening, close))


def off_by_one(number: str) -> str:
    """The next integer; of a number with a fraction one more or less in one of its first digits."""
    if re.fullmatch(r"\d[\d']*[uUlLzZ]*|0[xX][\da-fA-F']+[uUlLzZ]*", number):
        digits = re.match(r"0[xX][\da-fA-F']+|[\d']+", number)
        assert digits
        plain = digits[0].replace("'", "").replace("_", "")
        is_hex = plain[:2].lower() == "0x"
        value = int(plain, 16 if is_hex else 10) + 1
        return (hex(value) if is_hex else str(value)) + number[digits.end() :]
    is_hex = number[:2].lower() == "0x"
    mantissa = re.match(r"0[xX][\da-fA-F.']+" if is_hex else r"[\d.']+", number)
    assert mantissa
    significant = [
        k
        for k in range(2 if is_hex else 0, mantissa.end())
        if number[k] not in ".'" and number[:k].strip("0x.") + number[k] != "0"
    ]
    at = significant[min(2, len(significant) - 1)] if significant else mantissa.end() - 1
    digit = int(number[at], 16)
    changed = digit - 1 if digit in (9, 15) else digit + 1
    return number[:at] + f"{changed:x}" + number[at + 1 :]


MUTATORS: dict[str, Mutator] = {
    "sign": sign,
    "bound": bound,
    "negated condition": negated_condition,
    "missed broadcast": missed_broadcast,
    "dropped effect": dropped_effect,
    "wrong axis": wrong_axis,
    "stale row": stale_row,
    "swapped arguments": swapped_arguments,
    "and for or": and_or,
    "constant off by one": constant_off_by_one,
    "dropped field": dropped_field,
}
