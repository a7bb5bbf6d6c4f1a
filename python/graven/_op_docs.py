"""Docstrings and signatures of ops' functions, made of their records when somebody looks."""

from __future__ import annotations

import inspect
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
    return f"A list of {kind}." if is_list else f"{kind}."


def docstring(function: _engine.OpFunction) -> str:
    """Returns what the record says, in the form that docstrings have here."""
    record = function._record
    lines = [record["summary"], ""]
    arguments = {text.partition(":")[0].strip(): text for text in record["inputs"]}
    lines.append("Args:")
    for name, _ in function._parameters:
        if name in arguments:
            lines.append(f"  {name}: {_dtypes(arguments[name], record)}")
        elif name == "name":
            lines.append("  name: A name for the node while a function is traced.")
        else:
            lines.append(f"  {name}: An attribute of the op.")
    if record["outputs"]:
        lines += ["", "Returns:"]
        for output in record["outputs"]:
            name = output.partition(":")[0].strip()
            lines.append(f"  {name}: {_dtypes(output, record)}")
    if record["details"]:
        lines += ["", record["details"]]
    source = f'OpDef "{record["name"]}"'
    if record["python"]:
        public = record["python"].split(",")[0].strip()
        source = f"tf.{public}, {source}"
    lines += ["", f"Source: {source}."]
    return "\n".join(lines)
