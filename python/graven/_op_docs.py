"""Docstrings and signatures of ops' functions, made of their records when somebody looks."""

from __future__ import annotations

import inspect
import textwrap
from typing import Any

from graven import _engine


def signature(function: _engine.OpFunction) -> inspect.Signature:
    """Returns the parameters: inputs, attributes with their defaults, name."""
    parameters = []
    for name, default in function._parameters:
        missing = default == () and isinstance(default, tuple)
        parameters.append(
            inspect.Parameter(
                name,
                inspect.Parameter.POSITIONAL_OR_KEYWORD,
                default=inspect.Parameter.empty if missing else default,
            )
        )
    return inspect.Signature(parameters)


def _dtypes(argument: str, record: dict[str, Any]) -> str:
    kind = argument.partition(":")[2].strip()
    is_list = "*" in kind
    kind = kind.rpartition("*")[2].strip()
    for name, allowed in record["types"]:
        if name == kind:
            names = ", ".join(allowed)
            return f"A list of tensors, all of one of {names}." if is_list else f"One of {names}."
    if kind[:1].isupper():  # an attribute that lists types
        return "A list of tensors, each of a dtype of its own."
    return f"A list of {kind}." if is_list else f"{kind}."


def _attribute(default: Any) -> str:
    if default == () and isinstance(default, tuple):
        return "An attribute of the op."
    text = default.decode() if isinstance(default, bytes) else default
    return f"An attribute of the op, {text!r} by default."


def _entry(name: str, text: str) -> list[str]:
    """One argument or result, as lines that fit a terminal."""
    return textwrap.wrap(f"{name}: {text}", 96, initial_indent="  ", subsequent_indent="    ")


def docstring(function: _engine.OpFunction) -> str:
    """Returns what the record says, in the form that docstrings have here.

    help() shows only the docstring of a callable that is no function of Python's, so it begins with
    the signature, as those of the extension's other functions do.
    """
    record = function._record
    results = ", ".join(output.partition(":")[0].strip() for output in record["outputs"])
    head = f"{function.__name__}{signature(function)} -> {results or None}"
    lines = [head, "", *textwrap.wrap(record["summary"], 96), ""]
    arguments = {text.partition(":")[0].strip(): text for text in record["inputs"]}
    lines.append("Args:")
    for name, default in function._parameters:
        if name in arguments:
            lines += _entry(name, _dtypes(arguments[name], record))
        elif name == "name":
            lines += _entry(name, "A name for the node while a function is traced.")
        else:
            lines += _entry(name, _attribute(default))
    lines += ["", "Returns:"]
    for output in record["outputs"]:
        lines += _entry(output.partition(":")[0].strip(), _dtypes(output, record))
    if not record["outputs"]:
        lines.append("  None eagerly; the operation while a function is traced.")
    if record["details"]:
        lines.append("")
        for line in record["details"].splitlines():
            lines += textwrap.wrap(line, 96, subsequent_indent="    " if line[:1] == " " else "")
    source = f'OpDef "{record["name"]}"'
    if record["python"]:
        public = record["python"].split(",")[0].strip()
        source = f"tf.{public}, {source}"
    lines += ["", f"Source: {source}."]
    return "\n".join(lines)
