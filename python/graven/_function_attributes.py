"""Attributes of a function: which may be given, and as records of a FunctionDef."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from graven._graph_def import AttrValue, NameAttrList

ALLOWED_ATTRIBUTES = frozenset(
    {
        "api_implements",
        "api_preferred_device",
        "_disable_acd",
        "disable_summaries_at_runtime",
        "go_backwards",
        "_implements",
        "experimental_ints_on_device",
        "_noinline",
        "function_runs_at_most_once",
        "runtime_constant_optimization",
        "_tf_data_function",
        "time_major",
        "_OutputsOnOpDevice",
    }
)


def attribute_value(key: str, value: Any) -> AttrValue:
    """Returns an attribute as a record like TensorFlow's AttrValue: b, i, f, s, list or func.

    Args:
      key: The attribute's name.
      value: A bool, int, float, str, bytes, or a list of these. The text form of a name with
        attributes, `name: "lookup" attr { key: "axis" value { i: 3 } }`, becomes a func under
        the key "_implements".

    Raises:
      ValueError: The value is of another kind; the message names the key.
    """

    from graven._graph_def import AttrValue, ListValue  # few programs ask

    def field_of(item: Any) -> tuple[str, Any]:
        if isinstance(item, bool):
            return "b", item
        if isinstance(item, int):
            return "i", item
        if isinstance(item, float):
            return "f", item
        if isinstance(item, str | bytes):
            return "s", item.encode() if isinstance(item, str) else item
        raise ValueError(
            f"Attribute {key} must be a bool, int, float, str or bytes or a list of them, not "
            f"{value!r}."
        )

    if key == "_implements" and isinstance(value, str):
        try:
            return AttrValue(func=_function_of_text(value))
        except _NoTextFormError:
            pass  # a plain name
    if isinstance(value, list | tuple):
        items = ListValue()
        for item in value:
            field, content = field_of(item)
            getattr(items, field).append(content)
        return AttrValue(list=items)
    field, content = field_of(value)
    return AttrValue(**{field: content})


class _NoTextFormError(Exception):
    """A text is not of Protocol Buffers' text form."""


_TOKEN = re.compile(r"""\s*(?:"[^"\\]*"|[A-Za-z_]\w*|[-+]?[\d.][\w.+-]*|[:{}])""")

Message = dict[str, list[Any]]


def _function_of_text(text: str) -> NameAttrList:
    """Reads a NameAttrList in text form: a name, and attributes by key."""
    from graven._graph_def import AttrValue, NameAttrList

    tokens: list[str] = []
    at, text = 0, text.strip()
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            raise _NoTextFormError
        tokens.append(match.group().strip())
        at = match.end()
    fields = _message(tokens[::-1], closing=None)
    if not set(fields) <= {"name", "attr"}:
        raise _NoTextFormError
    function = NameAttrList(_one(fields, "name", bytes).decode())
    for entry in fields.get("attr", []):
        if not isinstance(entry, dict):
            raise _NoTextFormError
        record = AttrValue()
        for field in _one(entry, "value", dict):
            if field not in ("b", "i", "f", "s"):
                raise _NoTextFormError
            wanted = {"b": bool, "i": int, "f": (float, int), "s": bytes}[field]
            setattr(record, field, _one(entry["value"][-1], field, wanted))
        function.attr[_one(entry, "key", bytes).decode()] = record
    return function


def _one(fields: Message, name: str, kind: Any) -> Any:
    """The last value of a field, which must be of a kind."""
    values = fields.get(name)
    if not values or not isinstance(values[-1], kind):
        raise _NoTextFormError
    return values[-1]


def _message(tokens: list[str], closing: str | None) -> Message:
    """Reads the fields of a message from the end of a reversed list of tokens."""
    fields: Message = {}
    while tokens and tokens[-1] != closing:
        name = tokens.pop()
        mark = tokens.pop() if tokens else ""
        if not name.isidentifier() or mark not in (":", "{") or not tokens:
            raise _NoTextFormError
        if mark == ":" and tokens[-1] != "{":
            value: Any = _scalar(tokens.pop())
        else:
            if mark == ":":
                tokens.pop()
            value = _message(tokens, closing="}")
            if not tokens:
                raise _NoTextFormError
            tokens.pop()
        fields.setdefault(name, []).append(value)
    return fields


def _scalar(token: str) -> Any:
    if token.startswith('"'):
        return token[1:-1].encode()
    if token in ("true", "false"):
        return token == "true"
    for kind in (int, float):
        try:
            return kind(token)
        except ValueError:
            continue
    raise _NoTextFormError
