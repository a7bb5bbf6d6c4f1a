"""tf.function: the decorator, and the methods of Function.

A Function object is a CPython type of the engine, whose calls run no Python code once a trace is
known; this module adds the methods that are rare.
"""

from __future__ import annotations

import abc
import functools
import operator
import os
import sys
import weakref
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, overload

from graven import _engine, _logging, _retracing
from graven._concrete_function import (
    ConcreteFunction,
    FunctionType,
    Options,
    Parameter,
    ParameterKind,
    binding_error,
    sanitized,
)
from graven._explain import Explanation
from graven._function_attributes import ALLOWED_ATTRIBUTES, attribute_value
from graven._trace_types import TraceType
from graven.autograph._options import features

if TYPE_CHECKING:
    import inspect


@overload
def function(func: Callable[..., Any], *options: Any, **named_options: Any) -> Any: ...
@overload
def function(
    func: None = None, *options: Any, **named_options: Any
) -> Callable[[Callable[..., Any]], Any]: ...
def function(
    func: Callable[..., Any] | None = None,
    input_signature: Sequence[Any] | None = None,
    autograph: bool | str = True,
    jit_compile: bool | None = None,
    reduce_retracing: bool | None = None,
    experimental_implements: str | None = None,
    experimental_autograph_options: Any = None,
    experimental_attributes: Mapping[str, Any] | None = None,
    experimental_relax_shapes: bool | None = None,
    experimental_compile: bool | None = None,
    experimental_follow_type_hints: bool | None = None,
    *,
    stale: str = "retrace",
    max_traces: int | None = None,
    max_bytes: int | None = None,
    share_equal_functions: bool = False,
) -> Any:
    """Makes a Function of a Python function: traced once per type of its arguments, then run.

    Args:
      func: The function; None returns a decorator.
      input_signature: A possibly nested sequence of tf.TensorSpec, one for each parameter. Then
        there is one trace, and arguments are cast to it.
      autograph: Convert the function and what it calls, so that `if`, `while` and `for` on
        tensors become parts of the graph. "replay" leaves the source alone: the function is run
        once for each way through its conditions on tensors. It must do the same in each run and
        change no objects; loops on tensors must be tf.while_loop. Functions without source are
        captured so anyhow.
      jit_compile: None, False or True. Functions run without machine code so far, and the first
        one with True that is traced says so in a warning, once a process.
      reduce_retracing: None: where only sizes differ from those of a trace, the next trace leaves
        these sizes open, unless the function reads them as Python numbers (docs/sizes.md). True:
        trace the second shape of a rank with unknown dimensions, as TensorFlow does. False: trace
        each shape.
      experimental_implements: The name of what the function implements, or a name and attributes
        in text form. Such a function is pure: every argument becomes a tensor as a whole, and it
        may use nothing but its arguments.
      experimental_autograph_options: A tf.autograph.experimental.Feature, or several.
      experimental_attributes: A dict of what the function's definition is to say; the
        message about a key that may not be given lists those that may.
      experimental_relax_shapes: Deprecated name of reduce_retracing.
      experimental_compile: Deprecated name of jit_compile.
      experimental_follow_type_hints: Accepted; deprecated, without effect in TensorFlow too.
      stale: What to do when a Python value that a trace read and froze has changed (a global, an
        attribute, an item of a list): "retrace"; "warn", and run the old trace; "error", an
        error; "ignore", TensorFlow's behaviour, which notices nothing.
      max_traces: How many traces are kept at most; None means any number. Beyond it the trace goes
        that is worth least: calls lately, times milliseconds to trace it, per byte. A new trace
        that is worth no more than those there runs once, and goes.
      max_bytes: The same for bytes of memory, as cache_info() counts them without captured tensors.
      share_equal_functions: Whether functions among the arguments that are equal, by their code and
        what they have captured, find one trace where their code allows it (docs/cache.md). By
        default each function has a trace of its own, as in TensorFlow.

    Returns:
      A Function, or a decorator that makes one.

    Raises:
      TypeError: func is not callable, input_signature does not fit it, or a budget is no int.
      ValueError: An attribute or an option is not known, or a budget is not positive.

    Source: tf.function; autograph="replay", max_traces, max_bytes and share_equal_functions are
      Graven's own.
    """
    if experimental_compile is not None:
        if jit_compile is not None:
            raise ValueError("Cannot specify both 'experimental_compile' and 'jit_compile'.")
        jit_compile = experimental_compile
    if jit_compile is None and os.environ.get("TF_FUNCTION_JIT_COMPILE_DEFAULT") in ("true", "1"):
        jit_compile = True
    if stale not in STALE:
        raise ValueError(f"stale must be one of {', '.join(map(repr, STALE))}, not {stale!r}")
    if isinstance(autograph, str) and autograph != "replay":
        raise ValueError(f'autograph must be True, False or "replay", not {autograph!r}')
    attributes = dict(experimental_attributes or {})
    if experimental_implements is not None:
        attributes["_implements"] = experimental_implements
    for key in attributes:
        if key not in ALLOWED_ATTRIBUTES:
            raise ValueError(
                f"Attribute name is not allowlisted for functions: {key!r}. Allowed are "
                f"{', '.join(sorted(ALLOWED_ATTRIBUTES))}."
            )
    options = Options(
        input_signature=input_signature,
        autograph=autograph,
        jit_compile=jit_compile,
        reduce_retracing=_reduces_retracing(reduce_retracing, experimental_relax_shapes),
        attributes=attributes,
        autograph_features=features(experimental_autograph_options),
        max_traces=_budget("max_traces", max_traces),
        max_bytes=_budget("max_bytes", max_bytes),
        stale=stale,
        share_equal_functions=bool(share_equal_functions),
    )

    def decorate(inner: Callable[..., Any]) -> Any:
        if not callable(inner):
            raise TypeError(f"{inner!r} is not a callable object: tf.function takes a function.")
        return _make(inner, options)

    return decorate if func is None else decorate(func)


def _reduces_retracing(reduce_retracing: bool | None, relax_shapes: bool | None) -> bool | None:
    if reduce_retracing is None:
        return relax_shapes if relax_shapes is None else bool(relax_shapes)
    return bool(reduce_retracing or relax_shapes)


# What to do about watched values that change; the engine knows them by number.
STALE = ("ignore", "retrace", "warn", "error")


def _budget(name: str, given: Any) -> int | None:
    if given is None:
        return None
    if isinstance(given, bool) or not hasattr(type(given), "__index__"):
        raise TypeError(f"{name} must be a positive int or None, not {given!r}.")
    number = operator.index(given)
    if not 0 < number < 1 << 63:
        raise ValueError(f"{name} must be positive and below 2**63, not {number}.")
    return number


def _text(name: Any) -> str:
    """A name as the engine takes it; "" for what is none, as objects answer anything."""
    if not isinstance(name, str):
        return ""
    return name.encode("utf-8", "backslashreplace").replace(b"\0", b"").decode()


def _name_of(python_function: Callable[..., Any]) -> str:
    return _text(getattr(python_function, "__name__", None)) or "function"


def _shown_name_of(python_function: Callable[..., Any]) -> str:
    """The name in tables and logs: a method's with its class, "Model.__call__"."""
    name = _text(getattr(python_function, "__qualname__", None)) or _name_of(python_function)
    return name.rpartition("<locals>.")[2]


def _qualified_name_of(python_function: Callable[..., Any]) -> str:
    """The name that tells a function from others in each run: module and qualified name."""
    name = _text(getattr(python_function, "__qualname__", None)) or _name_of(python_function)
    module = _text(getattr(python_function, "__module__", None))
    return f"{module}.{name}" if module else name


def _make(
    python_function: Callable[..., Any],
    options: Options,
    instance: weakref.ref[Any] | None = None,
) -> Any:
    import inspect  # Takes milliseconds; programs without Functions go without.

    signature = inspect.signature(python_function)
    parameters = list(signature.parameters.values())
    if instance is not None:
        parameters = parameters[1:]
    described = _constrained(parameters, options.input_signature)
    made = _engine.Function(
        python_function,
        _name_of(python_function),
        described,
        options.reduce_retracing,
        # Literals that are equal by == are one in TensorFlow's profile (docs/traps.md).
        options.stale == "ignore" and options.reduce_retracing is False,
        not options.attributes.get("_disable_acd", False),
        instance,
        "_implements" in options.attributes,
        options.max_traces or 0,
        options.max_bytes or 0,
        STALE.index(options.stale),
        _qualified_name_of(python_function),
        _shown_name_of(python_function),
        options.share_equal_functions,
    )
    functools.update_wrapper(made, python_function)
    made.__doc__ = getattr(python_function, "__doc__", None) or ""
    made._options = options
    made._python_signature = signature.replace(parameters=parameters)
    made.__signature__ = made._python_signature
    made._autograph = options.autograph
    return made


# --- input_signature


def _leaves(nest: Any) -> Iterable[Any]:
    if isinstance(nest, Mapping):
        for value in nest.values():
            yield from _leaves(value)
    elif isinstance(nest, list | tuple):
        for value in nest:
            yield from _leaves(value)
    else:
        yield nest


def _check_signature(input_signature: Any) -> None:
    if not isinstance(input_signature, list | tuple):
        raise TypeError(
            "input_signature must be either a tuple or a list, got "
            f"{type(input_signature).__name__}."
        )
    bad = [leaf for leaf in _leaves(input_signature) if not isinstance(leaf, TraceType)]
    if bad:
        kinds = ", ".join(f"{leaf!r} of type {type(leaf).__name__}" for leaf in bad)
        raise TypeError(
            "input_signature must be a possibly nested sequence of TensorSpec objects, got "
            f"these that are none: {kinds}."
        )
    for leaf in _leaves(input_signature):
        if getattr(leaf, "kind", "") == "variable":
            raise TypeError("A VariableSpec cannot stand in an input_signature.")


def _constrained(
    parameters: list[inspect.Parameter], input_signature: Sequence[Any] | None
) -> list[tuple[str, int, bool, Any, Any]]:
    """The parameters as the engine takes them: name, kind, has default, default, constraint."""

    def described(p: inspect.Parameter, constraint: Any = None) -> tuple[str, int, bool, Any, Any]:
        has_default = p.default is not p.empty
        return p.name, int(p.kind), has_default, p.default if has_default else None, constraint

    if input_signature is None:
        return [described(p) for p in parameters]
    _check_signature(input_signature)
    left = list(input_signature)
    has_star = any(p.kind is p.VAR_POSITIONAL for p in parameters)
    result = []
    for p in parameters:
        if p.name == "self":
            result.append(described(p))
        elif p.kind is p.VAR_KEYWORD:
            continue
        elif p.kind is p.VAR_POSITIONAL:
            result += [(f"{p.name}_{i}", 0, False, None, spec) for i, spec in enumerate(left)]
            left = []
        elif p.kind is p.KEYWORD_ONLY and p.default is p.empty:
            raise TypeError(
                f"Since input_signature is defined, keyword-only parameter `{p.name}` must have a "
                "default value"
            )
        elif left:
            name, kind, has_default, default, constraint = described(p, left.pop(0))
            kind = 0 if has_star and kind == 1 else kind
            result.append((name, kind, has_default, default, constraint))
        elif p.default is not p.empty:
            name, kind, has_default, default, _ = described(p)
            result.append((name, kind, has_default, default, _engine.type_of(p.default)))
        else:
            raise TypeError(
                f"input_signature missing type constraint for {p.name}: {tuple(input_signature)}."
            )
    if left:
        raise TypeError(
            f"input_signature contains {len(left)} extra type constraints: {tuple(left)}."
        )
    return result


# --- Calls that cannot be bound. The engine calls these.


def call_eagerly(self: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Runs the Python function itself, as tf.config.run_functions_eagerly asks."""
    instance = self._instance
    if instance is not None:
        return self.python_function(instance(), *args, **kwargs)
    return self.python_function(*args, **kwargs)


def call_with_sanitized_keywords(self: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Calls again with keywords that are identifiers."""
    clean: dict[str, Any] = {}
    for name, value in kwargs.items():
        new = name if name in self._python_signature.parameters else sanitized(name)
        if new in clean:
            raise ValueError(
                f"Name collision after sanitization: {name!r} and another become {new!r}."
            )
        if new != name:
            _logging.warn_sanitized(name, new)
        clean[new] = value
    return self(*args, **clean)


def note_trace(self: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Notes that a call traced, for the warning about retracing."""
    del args, kwargs
    _retracing.note_trace(self)


def report(self: Any, args: tuple[Any, ...], kwargs: dict[str, Any], text: str) -> None:
    """Logs what the engine has to say about a Function."""
    del self, args, kwargs
    _logging.warn(text)


def raise_binding_error(self: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Raises the TypeError of a call whose arguments do not fit the parameters.

    With an input_signature it is a ValueError too.
    """
    has_signature = self._options.input_signature is not None
    signature = self._python_signature
    if has_signature:  # It takes no keywords beside those of parameters.
        parameters = signature.parameters.values()
        signature = signature.replace(parameters=[p for p in parameters if p.kind != p.VAR_KEYWORD])
    try:
        signature.bind(*args, **kwargs)
        cause = "arguments do not fit the parameters"
    except TypeError as error:
        cause = str(error)
    raise binding_error(
        self._described_signature(), cause, args, kwargs, has_input_signature=has_signature
    )


def raise_casting_error(
    self: Any, args: tuple[Any, ...], kwargs: dict[str, Any], cause: str
) -> Any:
    """Raises the TypeError of a call whose arguments cannot be cast."""
    has_signature = self._options.input_signature is not None
    raise binding_error(
        self._described_signature(), cause, args, kwargs, has_input_signature=has_signature
    )


# --- Methods


class _ByInstance:
    """The Functions of one class-level Function by instance, weakly."""

    def __init__(self) -> None:
        self.functions: weakref.WeakKeyDictionary[Any, Any] = weakref.WeakKeyDictionary()


def bind_to_instance(self: Any, instance: Any, owner: Any) -> Any:
    """Returns the Function of an instance, which is made on first access."""
    del owner
    by_instance = self.__dict__.setdefault("_by_instance", _ByInstance())
    bound = by_instance.functions.get(instance)
    if bound is None:
        bound = _made_for(self, self.python_function, instance)
        by_instance.functions[instance] = bound
    return bound


def _made_for(like: Any, python_function: Callable[..., Any], instance: Any) -> Any:
    """A Function with the options of another, whose first argument is the instance, if any."""
    if instance is None:
        return _make(python_function, like._options)
    made = _make(python_function, like._options, weakref.ref(instance))
    made._instance = weakref.ref(instance)
    return made


def _is_named(function: Any, module: str, name: str) -> bool:
    """Whether a Function is what a module has under a name, as decorators leave it."""
    found: Any = sys.modules.get(module)
    for part in name.split("."):
        found = getattr(found, part, None)
    return found is function


_IR_STAGES = (
    "hlo",
    "hlo_serialized",
    "stablehlo",
    "stablehlo_serialized",
    "optimized_hlo",
    "optimized_hlo_serialized",
)


def _compiler_ir(
    entry: Any,
    stage: str = "hlo",
    device_name: str | None = None,
    platform_name: str | None = None,
) -> str | bytes:
    if device_name is not None and platform_name is not None:
        raise ValueError(
            "experimental_get_compiler_ir takes device_name or platform_name, not both: "
            f"{device_name!r} and {platform_name!r}."
        )
    if stage not in _IR_STAGES:
        raise ValueError(f"stage must be one of {', '.join(_IR_STAGES)}, not {stage!r}.")
    text: str = entry.graph_text(stage.startswith("optimized_"))
    return text.encode() if stage.endswith("_serialized") else text


class PolymorphicFunction(abc.ABC):  # noqa: B024 (Functions are registered)
    """What tf.function makes: many traces behind one call.

    Source: tf.types.experimental.PolymorphicFunction.
    """


PolymorphicFunction.register(_engine.Function)


class SignatureInfo(NamedTuple):
    """One trace in a CacheInfo.

    Attributes:
      signature: The function with the types of its arguments.
      hits: Calls that found the trace.
      trace_ms: Milliseconds that tracing took.
      bytes: Memory: graph, constants, plans, gradients, captured tensors. What traces share counts
        in the first of them.
      captured_bytes: The part of `bytes` that are tensors the trace captured, which the program may
        hold too. Budgets do not count it.
      age: Seconds since it was traced.
      why: Why it was traced: "the first trace", or which argument differed from the nearest trace,
        with the new and the old type, or which value that a trace had read changed, with its line.
    """

    signature: str
    hits: int
    trace_ms: float
    bytes: int
    captured_bytes: int = 0
    age: float = 0.0
    why: str = ""


class GoneInfo(NamedTuple):
    """A trace that went, in a CacheInfo.

    Attributes:
      signature: The function with the types of its arguments.
      hits: Calls that found the trace.
      time: When it went, in seconds since 1970, as time.time() counts.
      why: "max_traces=10", "max_bytes=4096", "set_trace_cache_bytes(1000000)", "cleared",
        "an object of it died": one of its arguments, which it held weakly; which value that it had
        read changed, long ago; or that it made the variables, and calls use the next trace.
    """

    signature: str
    hits: int
    time: float
    why: str


class CacheInfo(NamedTuple):
    """What the cache of a Function holds; str() makes a table of it.

    Attributes:
      entries: Live traces.
      traces: Traces ever made.
      bytes: Memory of the entries: graphs, constants, plans, captured tensors; and of the index
        that finds them.
      hits: Calls that found their trace, the ones that traced left out.
      misses: Calls that had to trace, failing traces too. hits + misses are the calls whose
        arguments fitted the parameters; get_concrete_function is none.
      evictions: Entries that went, for whatever reason.
      signatures: One SignatureInfo for each live trace, in the order in which they were made.
      captured_bytes: The part of `bytes` that are captured tensors, which budgets do not count.
      max_traces: The budget, or None.
      max_bytes: The budget, or None.
      gone: One GoneInfo for each of the last 64 traces that went, the oldest first.
      text: The table.
    """

    entries: int
    traces: int
    bytes: int
    hits: int
    misses: int
    evictions: int
    signatures: tuple[SignatureInfo, ...]
    captured_bytes: int = 0
    max_traces: int | None = None
    max_bytes: int | None = None
    gone: tuple[GoneInfo, ...] = ()
    text: str = ""

    def __str__(self) -> str:
        return self.text


class _FunctionMethods:
    """What the type Function gets from Python."""

    _instance = None

    def get_concrete_function(self: Any, *args: Any, **kwargs: Any) -> ConcreteFunction:
        """Returns the trace for values or specs, traced now if there is none.

        Args:
          *args: Positional arguments: values, or specs in their place. None are needed with an
            input_signature.
          **kwargs: Keyword arguments, the same.

        Returns:
          A ConcreteFunction; the same object for the same types.

        Raises:
          TypeError: The arguments cannot be bound to the parameters.
          InternalError: This traces for the first time, and the initial value of a variable that
            the function creates depends on an argument ("Unable to lift tensor"). A call can do
            that.
        """
        entry = self._resolve(args, kwargs)
        return ConcreteFunction._of(entry, self)

    def get_initialization_function(self: Any, *args: Any, **kwargs: Any) -> ConcreteFunction:
        """Returns a function that initialises the variables this one creates.

        The variables are created now, by a trace, and have no value until it is called. It gives
        all of them their initial values, each time that it is called.

        Args:
          *args: Arguments of a first call: values, or specs in their place.
          **kwargs: Keyword arguments, the same.

        Returns:
          A ConcreteFunction without parameters.

        Raises:
          RuntimeError: The function was called or traced before.
          InternalError: An initial value depends on an argument ("Unable to lift tensor").
        """
        return ConcreteFunction._of(self._initialization(args, kwargs), self)

    def experimental_get_compiler_ir(self: Any, *args: Any, **kwargs: Any) -> Callable[..., Any]:
        """Returns a function that gives the text of what a call would run.

        Args:
          *args: Positional arguments of a call; or a tf.TensorSpec of known shape for each.
          **kwargs: Keyword arguments, likewise.

        Returns:
          A function of (stage="hlo", device_name=None, platform_name=None). Stages that begin with
          "optimized_" give the graph as it runs and its steps, the others the graph as it was
          traced, in Graven's text form: there is no HLO. Those that end in
          "_serialized" give bytes.

        Raises:
          ValueError: The function was not made with jit_compile=True; some arguments are specs and
            others are none; a shape is not known; a stage that there is not, or both names.
        """
        if not self._options.jit_compile:
            raise ValueError(
                f"Compiler IR can only be returned for functions marked with jit_compile=True; "
                f"{self.name} has jit_compile={self._options.jit_compile}."
            )
        leaves = [*_leaves(args), *_leaves(kwargs)]
        specs = [leaf for leaf in leaves if isinstance(leaf, _engine.TensorSpec)]
        if specs and len(specs) != len(leaves):
            raise ValueError(
                "The arguments of experimental_get_compiler_ir must all be TensorSpecs, or none."
            )
        for spec in specs:
            if not spec.shape.is_fully_defined():
                raise ValueError(f"experimental_get_compiler_ir needs a known shape, not {spec}.")
        entry = self.get_concrete_function(*args, **kwargs)._entry
        return functools.partial(_compiler_ir, entry)

    def cache_info(self: Any) -> CacheInfo:
        """Returns counts and prices of the cached traces, and what went, as a CacheInfo.

        print() shows it as a table. It counts all bytes anew, which takes about as long as a walk
        over all graphs.
        """
        counts, traces, gone, text = self._cache_info()
        entries, traced, num_bytes, hits, misses, evictions, captured_bytes = counts
        name = _shown_name_of(getattr(self, "python_function", self))  # one of C++ has none
        return CacheInfo(
            entries,
            traced,
            num_bytes,
            hits,
            misses,
            evictions,
            tuple(SignatureInfo(name + first, *rest) for first, *rest in traces),
            captured_bytes,
            self._options.max_traces,
            self._options.max_bytes,
            tuple(GoneInfo(name + first, *rest) for first, *rest in gone),
            f"{name}: {text}",
        )

    def explain(
        self: Any, *args: Any, html: str | os.PathLike[str] | None = None, **kwargs: Any
    ) -> Explanation:
        """Says what was traced and why, and what a call with these arguments would do.

        print() shows why each trace was made, for which call, what it cost and how to need fewer.
        With arguments it begins with the trace that such a call would find, or the reason why it
        would have to trace; nothing is traced, and the call is not counted.

        Args:
          *args: Positional arguments of a call: values, or specs in their place.
          html: Where to write a page with the same, and with the graphs and the lines that they
            come from, the kernels, and a timeline. A parameter of this name is given by position.
          **kwargs: Keyword arguments of a call.

        Returns:
          An Explanation.

        Raises:
          TypeError: The arguments cannot be bound to the parameters.
          OpError: The page cannot be written.
        """
        made = self._explain(args, kwargs) if args or kwargs else self._explain()
        return Explanation._of(made, html)

    def clear_cache(self: Any) -> None:
        """Lets all traces go; the next call of each type traces again.

        Calls that run on other threads go on, and a trace that is being made, around this call or
        on another thread, is kept when it is done. Counts and the history stay, and so does the
        rule that variables are created on the first call only. A ConcreteFunction that the program
        holds stays usable, but calls do not find it any more. A trace whose variables have no
        values yet stays, because calls of it give them their first ones.
        """
        self._clear_cache()

    def pretty_printed_concrete_signatures(self: Any, verbose: bool | str = True) -> str:
        """Returns the signatures of all traces, in the order in which they were made.

        Args:
          verbose: As in ConcreteFunction.pretty_printed_signature.
        """
        if self._options.input_signature is not None:
            self.get_concrete_function()
        separator = "\n\n" if verbose else "\n"
        traces = [ConcreteFunction._of(entry, self) for entry in self._entries()]
        return separator.join(trace.pretty_printed_signature(verbose) for trace in traces)

    def _call_traced(self: Any, /, *args: Any, **kwargs: Any) -> Any:
        """Calls the Python function to trace it; the engine calls this."""
        from graven.autograph import _tracing  # Takes milliseconds; not before the first trace.

        options = self._options
        return _tracing.call(
            self.python_function,
            options.autograph,
            options.autograph_features,
            args,
            kwargs,
            watches=options.stale != "ignore",
        )

    def _check_attributes(self: Any) -> None:
        """Raises a ValueError for attributes that nothing can honour; the engine calls it.

        It speaks of jit_compile=True here and not where the Function is made: programs make
        Functions that they never call.
        """
        if self._options.jit_compile:
            _logging.warn_once(
                f"jit_compile=True has no effect yet: {self.name}, like all functions so far, runs "
                "without machine code. Results are those of jit_compile=False.",
                matter="jit_compile",
            )
        for key, value in self._options.attributes.items():
            attribute_value(key, value)

    def _described_signature(self: Any) -> FunctionType:
        described = _constrained(
            list(self._python_signature.parameters.values()), self._options.input_signature
        )
        return FunctionType(
            [
                Parameter(name, ParameterKind(kind), has_default, constraint)
                for name, kind, has_default, _, constraint in described
            ],
            {},
            None,
        )

    @property
    def function_type(self: Any) -> FunctionType:
        """The polymorphic type: parameters, constrained where an input_signature says so."""
        described: FunctionType = self._described_signature()
        return described

    @property
    def input_signature(self: Any) -> tuple[Any, ...] | None:
        """The specs of the input_signature; None without one."""
        if self._options.input_signature is not None:
            return tuple(self._options.input_signature)
        return () if not self._python_signature.parameters else None

    @property
    def name(self: Any) -> str:
        """The name of the Python function."""
        return _name_of(self.python_function)

    def __copy__(self: Any) -> Any:
        """A Function of the same Python function, which has no traces yet."""
        return _made_for(self, self.python_function, self._instance and self._instance())

    def __deepcopy__(self: Any, memo: dict[int, Any]) -> Any:
        """The same of a copy of what a method is bound to."""
        import copy

        python_function = copy.deepcopy(self.python_function, memo)
        instance = copy.deepcopy(self._instance and self._instance(), memo)
        return _made_for(self, python_function, instance)

    def __reduce__(self: Any) -> Any:
        """A Function with a name in its module is pickled by it, others with what they are of."""
        python_function = self.python_function
        if self._instance is not None and (instance := self._instance()) is not None:
            return getattr, (instance, python_function.__name__)
        name = getattr(python_function, "__qualname__", "")
        if _is_named(self, getattr(python_function, "__module__", ""), name):
            return str(name)
        return _make, (python_function, self._options)

    def __repr__(self: Any) -> str:
        return f"<graven Function {self.name}{self._described_signature()}>"


for _name, _member in vars(_FunctionMethods).items():
    if _name not in ("__module__", "__dict__", "__weakref__", "__doc__"):
        setattr(_engine.Function, _name, _member)
TraceType.register(_engine.TensorSpec)
