"""Docstrings and signatures of public functions, made of their records when somebody looks."""

from __future__ import annotations

import inspect
import textwrap
from typing import Any

from graven import _engine


def signature(function: _engine.PublicFunction) -> inspect.Signature:
    """Returns the parameters: inputs, attributes with their defaults, name."""
    parameters = []
    kind: inspect._ParameterKind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    for name, default in function._parameters:
        if name.startswith("*"):
            parameters.append(inspect.Parameter(name[1:], inspect.Parameter.VAR_POSITIONAL))
            kind = inspect.Parameter.KEYWORD_ONLY
            continue
        missing = default == () and isinstance(default, tuple)
        parameters.append(
            inspect.Parameter(name, kind, default=inspect.Parameter.empty if missing else default)
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


def _wrapped(text: str) -> list[str]:
    """Paragraphs as lines that fit a terminal; lines that begin with a space stay indented."""
    lines: list[str] = []
    for line in text.splitlines():
        lines += textwrap.wrap(line, 96, subsequent_indent="    " if line[:1] == " " else "")
    return lines


def docstring(function: _engine.PublicFunction) -> str:
    """Returns what the record says, in the form that docstrings have here.

    help() shows only the docstring of a callable that is no function of Python's, so it begins with
    the signature, as those of the extension's other functions do.
    """
    record = function._record
    return _of_op(function, record) if "inputs" in record else _of_function(function, record)


_SETS = {
    "any number": "float32 float64 int32 uint8 int16 int8 complex64 int64 bfloat16 uint16 "
    "complex128 float16 uint32 uint64",
    "any real number": "float32 float64 int32 uint8 int16 int8 int64 bfloat16 uint16 float16 "
    "uint32 uint64",
    "any floating dtype": "float32 float64 bfloat16 float16",
    "any floating or complex dtype": "float32 float64 complex64 bfloat16 complex128 float16",
    "any integer": "int32 uint8 int16 int8 int64 uint16 uint32 uint64",
}


def _dtypes_of_parameter(kind: str, types: dict[str, list[str]]) -> str:
    kind = kind.removesuffix(" or variable").removesuffix(" or None").rpartition(" ")[2]
    if kind not in types:
        return "" if kind[:1].isupper() or kind in ("", "any", "dtype") else f"{kind}. "
    allowed = types[kind]
    for name, members in _SETS.items():
        if set(members.split()) == set(allowed):
            return f"{name.capitalize()}. "
    return ", ".join(allowed) + ". "


def _of_function(function: _engine.PublicFunction, record: dict[str, Any]) -> str:
    types = dict(record["types"])
    returned = record["type_name"] or (
        "None"
        if not record["results"]
        else "(" + ", ".join(name for name, _ in record["results"]) + ")"
        if len(record["results"]) > 1
        else "list"
        if record["results"][0][1]
        else "Tensor"
    )
    lines = [f"{function.__name__}{signature(function)} -> {returned}", ""]
    lines += textwrap.wrap(record["summary"], 96)
    if record["details"]:
        lines += ["", *_wrapped(record["details"])]
    lines += ["", "Args:"]
    named = False
    for name, role, kind, _, text in record["parameters"]:
        if role == "refused":
            text = f"Refused unless None or False: {text}"
        elif role == "ignored":
            text = f"Accepted without effect: {text}"
        elif name == "name":
            named, text = True, "A name for the nodes while a function is traced."
        lines += _entry(name, _dtypes_of_parameter(kind, types) + text)
    if not named and function._parameters and function._parameters[-1][0] == "name":
        lines += _entry("name", "A name for the nodes while a function is traced.")
    lines += ["", "Returns:", *_indented(record["returns"])]
    if record["raises"]:
        lines += ["", "Raises:"]
        for error, when in record["raises"]:
            lines += _entry(error, when)
    source = f"tf.{record['names']}" + (f", {record['source']}" if record["source"] else "")
    lines += ["", f"Source: {source}."]
    return "\n".join(lines)


def _indented(text: str) -> list[str]:
    return textwrap.wrap(text, 96, initial_indent="  ", subsequent_indent="  ")


def _of_op(function: _engine.PublicFunction, record: dict[str, Any]) -> str:
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
        lines += ["", *_wrapped(record["details"])]
    source = f'OpDef "{record["name"]}"'
    if record["python"]:
        public = record["python"].split(",")[0].strip()
        source = f"tf.{public}, {source}"
    lines += ["", f"Source: {source}."]
    return "\n".join(lines)
