"""tf.GradientTape: what is recorded, gradients and jacobians."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from enum import Enum
from typing import Any

from graven import _engine, _logging, nest
from graven import _functions as ops
from graven._indexed_slices import IndexedSlices
from graven._type_spec import CompositeTensor
from graven._unsupported import PublicEnumClass
from graven._variable import Variable

_TRAINABLE = frozenset({"float16", "bfloat16", "float32", "float64", "complex64", "complex128"})


class UnconnectedGradients(Enum, metaclass=PublicEnumClass):
    """What the gradient is where there is no path: nothing, or zeros.

    Source: tf.UnconnectedGradients.
    """

    NONE = "none"
    ZERO = "zero"


def _identity(value: Any) -> int:
    """What tells tensors and variables apart, the same for all objects of one variable."""
    return int((value.handle if isinstance(value, Variable) else value)._id)


def _is_differentiable(tensor: Any) -> bool:
    return tensor.dtype.name in _TRAINABLE


class GradientTape:
    """Records ops on watched tensors, to differentiate what they computed.

    Args:
      persistent: Whether gradients may be asked for more than once.
      watch_accessed_variables: Whether trainable variables are watched when they are read.

    Source: tf.GradientTape.
    """

    def __init__(self, persistent: bool = False, watch_accessed_variables: bool = True) -> None:
        self._persistent = persistent
        self._tape: Any = None
        self._watch_accessed = watch_accessed_variables
        self._was_used = False

    def __enter__(self) -> GradientTape:
        if self._tape is not None and self._tape.is_recording:
            raise ValueError(
                "Tape is still recording, this can happen if you try to re-enter an "
                "already-active tape."
            )
        self._made_tape().start()
        return self

    def _made_tape(self) -> Any:
        """The engine's tape, made when it is first needed."""
        if self._tape is None:
            self._tape = _engine.Tape(self._persistent, self._watch_accessed)
        return self._tape

    def __exit__(self, *exception: object) -> None:
        if self._tape.is_recording:
            self._tape.stop()

    def watch(self, tensor: Any) -> None:
        """Records later ops on a tensor or variable, or on those in a structure.

        Args:
          tensor: Tensors and variables; those that are not floating or complex are left out, with
            a warning. Of composite tensors the parts that are floating or complex.

        Raises:
          ValueError: A leaf is neither tensor nor variable.
        """
        for leaf in nest.flatten(tensor):
            if isinstance(leaf, IndexedSlices):
                self.watch([leaf.values])
                continue
            if isinstance(leaf, CompositeTensor):
                parts = nest.flatten(leaf, expand_composites=True)
                self.watch([part for part in parts if _is_differentiable(part)])
                continue
            if not isinstance(leaf, _engine.Tensor | Variable):
                raise ValueError(
                    f"Passed in object {leaf} of type {type(leaf).__name__!r}, not tf.Tensor or "
                    "tf.Variable or ExtensionType."
                )
            if not _is_differentiable(leaf):
                _logging.warn(
                    "The dtype of the watched tensor must be floating (e.g. tf.float32), got "
                    f"{leaf.dtype!r}. See docs/errors/no-gradient.md"
                )
                continue
            self._made_tape().watch(leaf)

    @contextlib.contextmanager
    def stop_recording(self) -> Iterator[None]:
        """Pauses recording within a `with`.

        Returns:
          A context manager.

        Raises:
          RuntimeError: The tape was never entered.
        """
        if self._tape is None:
            raise RuntimeError("Missing tape to stop: it was never entered.")
        was_recording = self._tape.is_recording
        if was_recording:
            self._tape.stop()
        try:
            yield
        finally:
            if was_recording:
                self._tape.start()

    def reset(self) -> None:
        """Forgets what was recorded and watched.

        Raises:
          ValueError: The tape is not recording.
        """
        if self._tape is None or not self._tape.is_recording:
            raise ValueError("Tape is not recording.")
        self._tape.reset()

    def watched_variables(self) -> tuple[Any, ...]:
        """Returns the variables that are watched, in order of their creation."""
        if self._tape is None:
            return ()
        return tuple(sorted(self._tape.watched_variables(), key=lambda v: v._number))

    # --- Gradients

    def gradient(
        self,
        target: Any,
        sources: Any,
        output_gradients: Any = None,
        unconnected_gradients: UnconnectedGradients | str = UnconnectedGradients.NONE,
    ) -> Any:
        """Returns the gradients of the targets, summed, with respect to the sources.

        Args:
          target: A tensor or variable, or a structure of them.
          sources: A tensor or variable, or a structure of them.
          output_gradients: One weight for each target, in its shape; None means ones.
          unconnected_gradients: What stands where there is no path: none or zeros.

        Returns:
          The structure of sources, with a tensor, an IndexedSlices or None for each.

        Raises:
          RuntimeError: A tape that is not persistent was used before, or was never entered.
          ValueError: There are not as many output_gradients as targets.
          LookupError: An op on the path has no gradient.
        """
        self._check_use()
        if self._tape.is_recording:
            if self._persistent:
                _logging.warn_once(
                    "Calling GradientTape.gradient on a persistent tape inside its context is "
                    "significantly less efficient than calling it outside the context."
                )
            else:
                self._tape.stop()
        unconnected = _unconnected(unconnected_gradients)
        targets = self._flat_targets(target)
        flat_dy = None
        if output_gradients is not None:
            flat_dy = [_engine.convert_to_tensor(dy) for dy in nest.flatten(output_gradients)]
            if len(flat_dy) != len(targets):
                raise ValueError(
                    f"There are {len(flat_dy)} output_gradients for {len(targets)} targets"
                )
        flat = self._flat_gradients(targets, nest.flatten(sources), flat_dy, self._persistent)
        if unconnected is UnconnectedGradients.ZERO:
            flat = [
                _zeros_like(source) if gradient is None else gradient
                for gradient, source in zip(flat, nest.flatten(sources), strict=True)
            ]
        self._finish_use()
        return nest.pack_sequence_as(sources, flat)

    def _check_use(self) -> None:
        if self._was_used:
            raise RuntimeError(
                "A non-persistent GradientTape can only be used to compute one set of gradients "
                "(or jacobians). See docs/errors/tape-used-twice.md"
            )
        if self._tape is None:
            raise RuntimeError(
                "This GradientTape has recorded nothing: what is to be differentiated must run "
                "under `with` the tape"
            )

    def _finish_use(self) -> None:
        self._was_used = not self._persistent

    def _flat_targets(self, target: Any) -> list[Any]:
        """The targets as tensors; a variable is read on the tape."""
        targets = []
        for leaf in nest.flatten(target):
            if isinstance(leaf, Variable) and _is_differentiable(leaf):
                was_recording = self._tape.is_recording
                if not was_recording:
                    self._tape.start()
                leaf = leaf.read_value()
                if not was_recording:
                    self._tape.stop()
            elif isinstance(leaf, IndexedSlices):
                leaf = leaf.values
            if leaf is not None and not _is_differentiable(leaf):
                _logging.warn(
                    "The dtype of the target tensor must be floating (e.g. tf.float32) when "
                    f"calling GradientTape.gradient, got {leaf.dtype!r}. See "
                    "docs/errors/no-gradient.md"
                )
            targets.append(leaf)
        return targets

    def _flat_gradients(
        self, targets: list[Any], sources: list[Any], dy: list[Any] | None, keep: bool
    ) -> list[Any]:
        usable = [t is not None and _is_differentiable(t) for t in targets]
        kept_targets = [t for t, ok in zip(targets, usable, strict=True) if ok]
        kept_dy = None if dy is None else [d for d, ok in zip(dy, usable, strict=True) if ok]
        kept_sources = []
        for source in sources:
            if isinstance(source, IndexedSlices):
                source = source.values
            if not isinstance(source, _engine.Tensor | Variable):
                raise TypeError(f"A source must be a tensor or a variable, not {source!r}.")
            if not _is_differentiable(source):
                _logging.warn(
                    "The dtype of the source tensor must be floating (e.g. tf.float32) when "
                    f"calling GradientTape.gradient, got {source.dtype!r}. See "
                    "docs/errors/no-gradient.md"
                )
            kept_sources.append(source)
        gradients: list[Any] = [None] * len(sources)
        if kept_targets:
            found = self._tape.gradient(kept_targets, kept_sources, kept_dy, keep)
            gradients = [IndexedSlices(*g) if isinstance(g, tuple) else g for g in found]
        for i, (target, ok) in enumerate(zip(targets, usable, strict=True)):
            if ok or target is None or target.dtype.name in ("string", "resource", "variant"):
                continue
            # Nothing is recorded of integers, but what is target and source depends on itself.
            for j, source in enumerate(kept_sources):
                if _identity(source) == _identity(target):
                    own = ops.ones_like(target) if dy is None else dy[i]
                    gradients[j] = own if gradients[j] is None else gradients[j] + own
        return gradients

    def jacobian(
        self,
        target: Any,
        sources: Any,
        unconnected_gradients: UnconnectedGradients | str = UnconnectedGradients.NONE,
        parallel_iterations: int | None = None,
        experimental_use_pfor: bool = True,
    ) -> Any:
        """Returns the derivatives of each element of the target by each element of the sources.

        Args:
          target: A tensor.
          sources: A tensor or variable, or a structure of them.
          unconnected_gradients: What stands where there is no path: none or zeros.
          parallel_iterations: Accepted; it bounds TensorFlow's memory, and results do not depend
            on it.
          experimental_use_pfor: Take all elements at once, by tf.vectorized_map; False takes one
            after the other and needs a persistent tape, as in TensorFlow.

        Returns:
          The structure of sources, each of shape target.shape + source.shape.

        Raises:
          RuntimeError: A tape that is not persistent was used before.
        """
        del parallel_iterations
        self._check_use()
        self._check_pfor(experimental_use_pfor)
        unconnected = _unconnected(unconnected_gradients)
        (target,) = self._flat_targets(target)
        if self._tape.is_recording and not self._persistent:
            self._tape.stop()
        sources_flat = nest.flatten(sources)
        size = target.shape.num_elements()
        count = ops.size(target) if size is None else int(size)
        sizes = _joined([count], _sizes_of(target))
        seeds = ops.reshape(ops.eye(count, dtype=target.dtype), sizes)
        rows = self._gradients_of_rows(target, sources_flat, seeds, experimental_use_pfor)
        flat: list[Any] = []
        for stacked, source in zip(rows, sources_flat, strict=True):
            sizes = _joined(_sizes_of(target), _sizes_of(source))
            if stacked is not None:
                flat.append(ops.reshape(stacked, sizes))
            elif unconnected is UnconnectedGradients.ZERO:
                flat.append(ops.zeros(sizes, source.dtype))
            else:
                flat.append(None)
        self._finish_use()
        return nest.pack_sequence_as(sources, flat)

    def _check_pfor(self, experimental_use_pfor: bool) -> None:
        eager = _engine.executing_eagerly()
        if not experimental_use_pfor and eager and not self._persistent:
            raise RuntimeError(
                "GradientTape must be created with persistent=True to compute the jacobian with "
                "eager execution enabled and with experimental_use_pfor set to False."
            )

    def batch_jacobian(
        self,
        target: Any,
        source: Any,
        unconnected_gradients: UnconnectedGradients | str = UnconnectedGradients.NONE,
        parallel_iterations: int | None = None,
        experimental_use_pfor: bool = True,
    ) -> Any:
        """Returns the jacobian of each example of a batch by its own source.

        Args:
          target: A tensor of shape [b, t...].
          source: A tensor of shape [b, s...].
          unconnected_gradients: Where there is no path, either gives zeros: none in the dtype of
            the target, zeros in that of the source, as in TensorFlow.
          parallel_iterations: Accepted; it bounds TensorFlow's memory, and results do not depend
            on it.
          experimental_use_pfor: Take all elements at once, by tf.vectorized_map; False takes one
            after the other and needs a persistent tape, as in TensorFlow.

        Returns:
          A tensor of shape [b, t..., s...].

        Raises:
          ValueError: A rank is below 2, or the first dimensions differ.
        """
        del parallel_iterations
        unconnected = _unconnected(unconnected_gradients)
        self._check_use()
        self._check_pfor(experimental_use_pfor)
        (target,) = self._flat_targets(target)
        if not _are_batches(target.shape, source.shape):
            raise ValueError(
                f"Need first dimension of target shape ({target.shape}) and source shape "
                f"({source.shape}) to match."
            )
        if self._tape.is_recording and not self._persistent:
            self._tape.stop()
        sizes = _sizes_of(target)
        result_sizes = _joined(sizes, _sizes_of(source)[1:])
        inner = target.shape[1:].num_elements()
        count = ops.reduce_prod(ops.shape(target)[1:]) if inner is None else int(inner)
        units = ops.reshape(ops.eye(count, dtype=target.dtype), _joined([count, 1], sizes[1:]))
        seeds = ops.broadcast_to(units, _joined([count], sizes))
        (stacked,) = self._gradients_of_rows(target, [source], seeds, experimental_use_pfor)
        self._finish_use()
        if stacked is None:
            like = source if unconnected is UnconnectedGradients.ZERO else target
            return ops.zeros(result_sizes, like.dtype)
        order = [1, 0, *range(2, source.shape.rank + 1)]
        return ops.reshape(ops.transpose(stacked, order), result_sizes)

    def _gradients_of_rows(
        self, target: Any, sources: list[Any], seeds: Any, at_once: bool
    ) -> list[Any]:
        """The gradients for each row of seeds, stacked; None where there is no path.

        For all rows at once the tape is walked once, and each op of the gradient runs once.
        """
        is_connected = [False] * len(sources)

        def of_row(seed: Any) -> list[Any]:
            found = self._flat_gradients([target], sources, [seed], True)
            is_connected[:] = [gradient is not None for gradient in found]
            pairs = zip(found, sources, strict=True)
            return [_dense(gradient, source) for gradient, source in pairs if gradient is not None]

        if at_once:
            stacked = iter(ops.vectorized_map(of_row, seeds))
        elif _engine.executing_eagerly() and seeds.shape[0] != 0:
            rows = [of_row(seed) for seed in ops.unstack(seeds)]
            stacked = iter([ops.stack(parts, 0) for parts in zip(*rows, strict=True)])
        else:
            dtypes = [row.dtype for row in of_row(ops.zeros_like(target))]
            stacked = iter(ops.map_fn(of_row, seeds, fn_output_signature=dtypes) if dtypes else [])
        return [next(stacked) if ok else None for ok in is_connected]


def gradients(
    ys: Any,
    xs: Any,
    grad_ys: Any = None,
    name: str | None = "gradients",
    gate_gradients: bool = False,
    aggregation_method: int | None = None,
    stop_gradients: Any = None,
    unconnected_gradients: UnconnectedGradients | str = UnconnectedGradients.NONE,
) -> list[Any]:
    """Returns the gradients of the sum of ys with respect to xs, while a function is traced.

    Args:
      ys: A tensor, or a list of them.
      xs: A tensor or variable, or a list of them.
      grad_ys: A weight for each of ys, in its shape; None stands for ones.
      name: Accepted; the nodes are named after their ops.
      gate_gradients: Accepted; it orders TensorFlow's nodes, and results do not depend on it.
      aggregation_method: Accepted, 0, 1 or 2, as tf.AggregationMethod names them: how TensorFlow
        adds up, for the sake of its memory. Here terms are added in their order.
      stop_gradients: Tensors through which nothing flows back.
      unconnected_gradients: What stands where there is no path: none or zeros.

    Returns:
      A list with a tensor, an IndexedSlices or None for each of xs.

    Raises:
      RuntimeError: No function is being traced.
      LookupError: An op on the path has no gradient.
      ValueError: unconnected_gradients or aggregation_method is none of those there are.

    Source: tf.gradients.
    """
    del name, gate_gradients
    if aggregation_method not in (None, 0, 1, 2):
        raise ValueError(
            f"Invalid `aggregation_method` specified {aggregation_method}. Accepted values are "
            "[0, 1, 2]."
        )
    targets, sources = _listed(ys), _listed(xs)
    seeds = [None if dy is None else _engine.convert_to_tensor(dy) for dy in _listed(grad_ys)]
    if grad_ys is None:
        seeds = []
    elif len(seeds) != len(targets):
        raise ValueError(f"Passed {len(seeds)} grad_ys for {len(targets)} ys")
    zeros = _unconnected(unconnected_gradients) is UnconnectedGradients.ZERO
    stop = [] if stop_gradients is None else _listed(stop_gradients)
    found = _engine.graph_gradients(targets, sources, seeds, stop)
    results = [IndexedSlices(*g) if isinstance(g, tuple) else g for g in found]
    return [
        _zeros_like(source) if zeros and gradient is None else gradient
        for gradient, source in zip(results, sources, strict=True)
    ]


def _unconnected(value: UnconnectedGradients | str) -> UnconnectedGradients:
    try:
        return UnconnectedGradients(value)
    except ValueError:
        raise ValueError(f"Unknown value for unconnected_gradients: {value!r}") from None


def _listed(values: Any) -> list[Any]:
    return list(values) if isinstance(values, list | tuple) else [values]


def _are_batches(target: Any, source: Any) -> bool:
    """Whether shapes may be those of batches of as many examples."""
    if target.rank is None or source.rank is None or min(target.rank, source.rank) < 2:
        return False
    return bool(target[:1].is_compatible_with(source[:1]))


def _sizes_of(tensor: Any) -> Any:
    """The shape as numbers, or as a tensor where it is not known while a function is traced."""
    return list(tensor.shape) if tensor.shape.is_fully_defined() else ops.shape(tensor)


def _joined(*sizes: Any) -> Any:
    """Sizes one after the other, as numbers if all of them are."""
    numbers = [size for part in sizes if isinstance(part, list) for size in part]
    if all(isinstance(part, list) for part in sizes) and all(isinstance(n, int) for n in numbers):
        return numbers
    return ops.concat(sizes, 0)


def _zeros_like(source: Any) -> Any:
    if isinstance(source, Variable) and source.shape.is_fully_defined():
        return ops.zeros(source.shape, source.dtype)
    return ops.zeros_like(source)


def _dense(gradient: Any, source: Any) -> Any:
    if gradient is None:
        return _zeros_like(source)
    return _engine.convert_to_tensor(gradient)
