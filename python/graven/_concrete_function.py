"""ConcreteFunction: one trace of a Function, with its type."""

from __future__ import annotations

import enum
import re
import weakref
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from graven import _engine
from graven._dtypes import DType
from graven._function_attributes import attribute_value
from graven._trace_types import TraceType
from graven.errors import InputSignatureError

if TYPE_CHECKING:
    from graven._graph_def import FunctionDef


class Options(NamedTuple):
    """How a Function was asked for; what a Function of an instance takes over."""

    input_signature: Sequence[Any] | None
    autograph: bool | str
    jit_compile: bool | None
    reduce_retracing: bool | None
    attributes: dict[str, Any]
    autograph_features: tuple[Any, ...] = ()  # optional ones, of tf.autograph
    max_traces: int | None = None
    max_bytes: int | None = None
    stale: str = "ignore"
    share_equal_functions: bool = False


def sanitized(name: str) -> str:
    clean = re.sub(r"\W", "_", name)
    return clean if clean[:1].isalpha() else "arg_" + clean


class ParameterKind(enum.IntEnum):
    """How an argument may be passed, with the numbers of inspect."""

    POSITIONAL_ONLY = 0
    POSITIONAL_OR_KEYWORD = 1
    VAR_POSITIONAL = 2
    KEYWORD_ONLY = 3
    VAR_KEYWORD = 4


class Parameter(NamedTuple):
    """One parameter of a FunctionType."""

    name: str
    kind: ParameterKind
    optional: bool
    type_constraint: Any

    def __str__(self) -> str:
        star = {ParameterKind.VAR_POSITIONAL: "*", ParameterKind.VAR_KEYWORD: "**"}
        text = star.get(self.kind, "") + self.name
        has_type = self.type_constraint is not None
        if has_type:
            text += f": {self.type_constraint!r}"
        if self.optional:
            text += " = <captured_default_value>" if has_type else "=<captured_default_value>"
        return text

    def __repr__(self) -> str:
        return (
            f"Parameter(name={self.name}, kind={self.kind.name}, optional={self.optional}, "
            f"type_constraint={self.type_constraint!r})"
        )


class FunctionType:
    """The type of a function or of one of its traces.

    Attributes:
      parameters: An ordered mapping from names to Parameter.
      captures: A mapping from keys of captured tensors to their types.
      output: The type of the result, None if it is not known.
    """

    def __init__(
        self, parameters: Iterable[Parameter], captures: Mapping[int, Any], output: Any
    ) -> None:
        self.parameters = OrderedDict((p.name, p) for p in parameters)
        self.captures = OrderedDict(captures)
        self.output = output

    def __eq__(self, other: object) -> bool:
        return isinstance(other, FunctionType) and (
            list(self.parameters.values()) == list(other.parameters.values())
            and self.captures == other.captures
        )

    def __hash__(self) -> int:
        return hash(tuple(self.parameters))

    def __str__(self) -> str:
        parts: list[str] = []
        previous: ParameterKind | None = None
        for p in self.parameters.values():
            if previous is ParameterKind.POSITIONAL_ONLY and p.kind is not previous:
                parts.append("/")
            star_seen = previous in (ParameterKind.KEYWORD_ONLY, ParameterKind.VAR_POSITIONAL)
            if p.kind is ParameterKind.KEYWORD_ONLY and not star_seen:
                parts.append("*")
            parts.append(str(p))
            previous = p.kind
        if previous is ParameterKind.POSITIONAL_ONLY:
            parts.append("/")
        arrow = "" if self.output is None else f" -> {self.output!r}"
        return f"({', '.join(parts)}){arrow}"

    def __repr__(self) -> str:
        lines = ["Input Parameters:"]
        lines += [
            f"  {p.name} ({p.kind.name}): {p.type_constraint!r}" for p in self.parameters.values()
        ]
        lines += ["Output Type:", f"  {self.output!r}", "Captures:"]
        lines += [f"  {key}: {type_!r}" for key, type_ in self.captures.items()] or ["  None"]
        return "\n".join(lines)


def _text_of(value: Any) -> str:
    """repr(), also of what cannot be printed."""
    try:
        return repr(value)
    except Exception:
        if isinstance(value, tuple):
            return f"({', '.join(map(_text_of, value))})"
        return f"<an object of class {type(value).__name__}, whose repr() fails>"


def binding_error(
    signature: FunctionType,
    cause: str,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    *,
    has_input_signature: bool = False,
) -> TypeError:
    text = (
        f"Binding inputs to tf.function failed due to `{cause}`. "
        f"Received args: {_text_of(args)} and kwargs: {_text_of(kwargs)} for signature: "
        f"{signature}."
    )
    page = "See docs/errors/binding-inputs.md"
    if has_input_signature:
        return InputSignatureError(
            f"{text} Python inputs incompatible with input_signature. {page}"
        )
    return TypeError(f"{text} {page}")


def _function_type_of_entry(entry: Any) -> FunctionType:
    parameters = [
        Parameter(name, ParameterKind(kind), optional, type_)
        for name, kind, optional, type_ in entry.parameters
    ]
    return FunctionType(parameters, dict(entry.captures), entry.output_type)


_concrete: weakref.WeakValueDictionary[int, ConcreteFunction] = weakref.WeakValueDictionary()


class ConcreteFunction:
    """One trace of a Function: a graph with types, captures and results of its own.

    Calls take the structured arguments that it was traced with, or flat: one tensor for each
    placeholder, by position or by name.

    Source: tf.types.experimental.ConcreteFunction.
    """

    def __init__(self, entry: Any, function: Any) -> None:
        self._entry = entry
        self._kept = function._kept  # what the graph needs of Python when the Function is gone
        self._options: Options = function._options
        self.function_type = _function_type_of_entry(entry)

    @staticmethod
    def _of(entry: Any, function: Any) -> ConcreteFunction:
        """Returns the one object of a trace of a Function."""
        made = _concrete.get(entry.address)
        if made is None:
            made = ConcreteFunction(entry, function)
            _concrete[entry.address] = made
        return made

    # --- Calling

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Calls it by the structured convention, or else by the flat one."""
        if self._kept:
            _engine.keep_for_trace(self._kept)
        try:
            tensors = self._bind(args, kwargs)
        except TypeError as structured:
            try:
                flat = self._bind_flat(args, kwargs)
            except (TypeError, ValueError) as error:
                raise TypeError(
                    f"{structured}\nFallback to flat signature also failed due to: {error}"
                ) from structured
            return self._entry.run_flat(flat)
        return self._entry.run(tensors)

    def _bind(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The flat tensors of structured arguments, or the TypeError that says why not."""
        import inspect

        kinds = inspect._ParameterKind
        parameters = [
            inspect.Parameter(p.name, kinds(p.kind)) for p in self.function_type.parameters.values()
        ]
        clean = {
            sanitized(name) if name not in self.function_type.parameters else name: value
            for name, value in kwargs.items()
        }
        try:
            bound = inspect.Signature(parameters).bind(*args, **clean)
            return self._entry.flatten(tuple(bound.arguments[p.name] for p in parameters))
        except TypeError as error:
            raise binding_error(self.function_type, str(error), args, kwargs) from None

    def _flat_names(self) -> list[str]:
        names: list[str] = []
        for tensor in self.inputs[: self._entry.num_arguments]:
            wished = tensor.op.get_attr("_user_specified_name").decode()
            wished = sanitized(wished or "tensor_arg")
            name, count = wished, 0
            while name in names:
                count += 1
                name = f"{wished}_{count}"
            names.append(name)
        return names

    def _bind_flat(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any]:
        names = self._flat_names()
        summary = f"{self._short_name}({', '.join(names)})"
        if len(args) > len(names):
            raise TypeError(f"{summary} takes {len(names)} positional arguments, got {len(args)}.")
        values = dict(zip(names, args, strict=False))
        for name, value in kwargs.items():
            if name in values:
                raise TypeError(f"{summary} got two values for {name!r}.")
            if name in names:
                values[name] = value
        missing = [name for name in names if name not in values]
        if missing:
            raise TypeError(f"{summary} missing required arguments: {', '.join(missing)}.")
        extra = [name for name in kwargs if name not in names]
        if extra:
            raise TypeError(f"{summary} got unexpected keyword arguments: {', '.join(extra)}.")
        flat = [values[name] for name in names]
        for i, value in enumerate(flat):
            if not isinstance(value, _engine.Tensor | _engine.VariableBase):
                raise TypeError(
                    f"All inputs to `ConcreteFunction`s must be Tensors; on invocation of "
                    f"{self._short_name}, expected argument #{i}(zero-based) to be a Tensor; got "
                    f"{type(value).__name__} ({value})."
                )
        return flat

    # --- Properties

    @property
    def _short_name(self) -> str:
        return self.name.removeprefix("__inference_").rpartition("_")[0]

    @property
    def name(self) -> str:
        """The name of the function in graphs, "__inference_f_12"."""
        return str(self._entry.name)

    @property
    def graph(self) -> Any:
        """The graph as it was traced."""
        graph = self._entry.graph
        graph._concrete_function = self  # which knows its captures, variables and structures
        return graph

    @property
    def function_def(self) -> FunctionDef:
        """The trace as a record like TensorFlow's FunctionDef, whose str() is its text form.

        Raises:
          ValueError: An attribute of the Function is no number, text or list of them.
        """
        attributes = dict(self._options.attributes)
        if self._options.jit_compile is not None:
            attributes["_XlaMustCompile"] = self._options.jit_compile
        if self._options.jit_compile:
            attributes["_noinline"] = True
        definition: FunctionDef = self.graph._function_def()
        definition.signature.name = self.name
        for key, value in attributes.items():
            definition.attr[key] = attribute_value(key, value)
        return definition

    @property
    def inputs(self) -> list[Any]:
        """Symbolic tensors of the arguments, then of the captures."""
        return list(self._entry.inputs)

    @property
    def outputs(self) -> list[Any]:
        """Symbolic tensors of the results, flat."""
        return list(self._entry.outputs)

    @property
    def captured_inputs(self) -> list[Any]:
        """The tensors from outside that are fed beside the arguments."""
        return list(self._entry.captured_inputs)

    def set_external_captures(self, captures: Sequence[Any]) -> None:
        """Changes what is fed for the captures.

        Args:
          captures: A tensor for each of captured_inputs, in their order.
        """
        self._entry.set_captured_inputs(captures)

    def replace_capture_with_deferred_capture(
        self, tensor: Any, closure: Callable[[], Any], spec: Any
    ) -> None:
        """Feeds what a closure gives at each call in the place of a captured tensor.

        Args:
          tensor: One of `captured_inputs`.
          closure: A function without arguments; what it returns is cast to the spec at each call.
          spec: A tf.TensorSpec that the captured tensor fits too.

        Raises:
          ValueError: The tensor is not captured, or does not fit the spec.
        """
        slot = self._entry.defer_capture(tensor, closure, spec)
        if slot is not None:
            self._kept.append(slot)

    @property
    def structured_outputs(self) -> Any:
        """The result as it was returned, with symbolic tensors as leaves."""
        return self._entry.structured_outputs

    @property
    def structured_input_signature(self) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The arguments as `(args, kwargs)`, with specs in the place of tensors."""
        args, kwargs = [], {}
        for p in self.function_type.parameters.values():
            spec = _spec_structure(p.type_constraint, p.name)
            if p.kind is ParameterKind.KEYWORD_ONLY:
                kwargs[p.name] = spec
            else:
                args.append(spec)
        return tuple(args), kwargs

    @property
    def variables(self) -> tuple[Any, ...]:
        """The variables that it reads or writes, arguments left out, in order of first use."""
        return tuple(self._entry.variables)

    @property
    def trainable_variables(self) -> tuple[Any, ...]:
        """Those of `variables` that are trainable."""
        return tuple(v for v in self.variables if v.trainable)

    @property
    def _tensors_of_outputs(self) -> Any:
        """The result with composites taken apart into their tensors."""
        from graven import nest
        from graven._type_spec import CompositeTensor

        def apart(output: Any) -> Any:
            if not isinstance(output, CompositeTensor):
                return output
            return nest.map_structure(apart, output._type_spec._to_components(output))

        return nest.map_structure(apart, self.structured_outputs)

    @property
    def output_shapes(self) -> Any:
        """The shapes of the result's tensors, in its structure; an unknown one for None."""
        from graven import nest
        from graven._tensor_shape import TensorShape

        def shape_of(output: Any) -> Any:
            return TensorShape(None) if output is None else output.shape

        return nest.map_structure(shape_of, self._tensors_of_outputs)

    @property
    def output_dtypes(self) -> Any:
        """The dtypes of the result's tensors, in its structure; None for None."""
        from graven import nest

        return nest.map_structure(
            lambda t: None if t is None else t.dtype, self._tensors_of_outputs
        )

    def pretty_printed_signature(self, verbose: bool | str = True) -> str:
        """Returns the parameters, the result and the captures as text.

        Args:
          verbose: One a line; False gives one short line, "legacy" the layout of TensorFlow up to
            2.11, without captures.

        Raises:
          ValueError: verbose is another text.
        """
        if not isinstance(verbose, str):
            return str(self._entry.signature_text(bool(verbose)))
        if verbose != "legacy":
            raise ValueError(f'verbose must be True, False or "legacy", not {verbose!r}')
        from graven._printed_signature import legacy_signature

        args, kwargs = self.structured_input_signature
        names = [n for n in self.function_type.parameters if n not in kwargs]
        name = self.name.removeprefix("__inference_").rpartition("_")[0]
        return legacy_signature(
            name, zip(names, args, strict=True), kwargs, self.structured_outputs
        )

    def __str__(self) -> str:
        return f"ConcreteFunction {self.pretty_printed_signature()}"

    def __repr__(self) -> str:
        return f"<ConcreteFunction {self.function_type} at 0x{id(self):X}>"


class UnknownArgument:
    """Stands in a structured_input_signature for an argument that is no tensor and no literal."""


def _spec_structure(type_: Any, path: str) -> Any:
    """A type as a structure of specs, whose tensors are named by their path."""
    name = re.sub(r"[^a-z0-9_.]", "_", path.lower())
    kind = getattr(type_, "kind", "foreign")
    if kind == "tensor":
        return type_ if type_.name else _engine.TensorSpec(type_.shape, type_.dtype, name)
    if kind == "container":
        labels = type_.keys or range(len(type_.components))
        return type_.with_components(
            [
                _spec_structure(part, f"{path}_{label}")
                for part, label in zip(type_.components, labels, strict=True)
            ]
        )
    if kind in ("literal", "object"):
        value = type_.value  # None if an object is gone
        if value is None and kind == "literal":
            return None
        is_plain = isinstance(value, bool | int | float | str | DType | TraceType)
        return value if is_plain else UnknownArgument()
    return type_
