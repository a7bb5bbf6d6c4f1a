"""tf.autodiff.ForwardAccumulator: derivatives along with the values, forward mode."""

from __future__ import annotations

from typing import Any

from graven import _engine, _logging, nest
from graven._indexed_slices import IndexedSlices
from graven._tape import UnconnectedGradients, _identity, _is_differentiable, _unconnected
from graven._tape import _zeros_like as zeros_like
from graven._variable import Variable


class ForwardAccumulator:
    """Computes Jacobian-vector products beside the values, forward mode.

    Inside `with`, each op that is applied to a tensor with a tangent gives its outputs tangents.
    That costs about as much as the op, and keeps nothing for later; a GradientTape keeps what it
    needs and gives a gradient with respect to all sources at once. So this is for few primals and
    many targets, and with a tape inside it for products of a Hessian and a vector.

    Tangents of an accumulator are seen by the tapes and accumulators around it, not by those inside
    of it. A Function that is called computes tangents in its graph, which is made once; so do
    conditions and loops. An op computes its tangents by a formula that follows from its gradient.

        x = tf.constant([1.0, 2.0])
        with tf.autodiff.ForwardAccumulator(x, tf.constant([1.0, 0.0])) as accumulator:
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = tf.reduce_sum(x**3)
            gradient = tape.gradient(y, x)
        accumulator.jvp(gradient)  # [6., 0.]

    Args:
      primals: A tensor or variable, or a structure of them. A variable stands for its value.
      tangents: For each of the primals a tensor of its dtype and shape: how it changes.

    Raises:
      ValueError: tangents have another structure, dtype or shape than primals, or a primal stands
        there twice.
      TypeError: A primal is neither tensor nor variable.

    Source: tf.autodiff.ForwardAccumulator.
    """

    def __init__(self, primals: Any, tangents: Any) -> None:
        self._accumulator = _engine.Accumulator()
        nest.assert_same_structure(primals, tangents)
        seen: set[int] = set()
        for primal, tangent in zip(nest.flatten(primals), nest.flatten(tangents), strict=True):
            self._watch(primal, tangent, seen)

    def _watch(self, primal: Any, tangent: Any, seen: set[int]) -> None:
        if not isinstance(primal, _engine.Tensor | Variable):
            raise TypeError(
                f"A primal must be a tf.Tensor or tf.Variable, not {primal!r} of type "
                f"{type(primal).__name__!r}."
            )
        identity = _identity(primal)
        if identity in seen:
            raise ValueError(
                f"Tensor {primal} was specified as a primal multiple times. This may indicate an "
                "error. If it was intended, please sum the corresponding tangents."
            )
        seen.add(identity)
        if not _is_differentiable(primal):
            _logging.warn(
                "The dtype of the watched primal must be floating (e.g. tf.float32), got "
                f"{primal.dtype!r}. See docs/errors/no-gradient.md"
            )
            return
        tangent = _engine.convert_to_tensor(tangent, dtype=primal.dtype)
        if not tangent.shape.is_compatible_with(primal.shape):
            raise ValueError(
                f"The tangent of a primal has its shape {primal.shape}, not {tangent.shape}."
            )
        self._accumulator.watch(primal, tangent)

    def __enter__(self) -> ForwardAccumulator:
        if self._accumulator.is_recording:
            raise ValueError("Accumulator is already recording.")
        self._accumulator.start()
        return self

    def __exit__(self, *exception: object) -> None:
        if self._accumulator.is_recording:
            self._accumulator.stop()

    def jvp(
        self,
        target: Any,
        unconnected_gradients: UnconnectedGradients | str = UnconnectedGradients.NONE,
    ) -> Any:
        """Returns how the target changes when the primals change by their tangents.

        Args:
          target: A tensor or variable, or a structure of them, computed inside `with`. Of
            IndexedSlices the values count.
          unconnected_gradients: What stands where no primal leads to the target: none or zeros.

        Returns:
          The structure of target: for each tensor one of its dtype and shape, the product of its
          Jacobian with respect to the primals and the tangents, or None.

        Raises:
          LookupError: An op on the way has no gradient.
          ValueError: unconnected_gradients is none of those there are.
          Exception: What a custom gradient on the way, in a function that was called, has raised.
            Where that has been told before, a FailedPreconditionError with its text.
        """
        zeros = _unconnected(unconnected_gradients) is UnconnectedGradients.ZERO

        def tangent_of(leaf: Any) -> Any:
            if isinstance(leaf, IndexedSlices):
                values = tangent_of(leaf.values)
                if values is None:
                    return None
                return IndexedSlices(values, leaf.indices, leaf.dense_shape)
            if not isinstance(leaf, _engine.Tensor | Variable):
                raise TypeError(
                    f"A target must be a tf.Tensor or tf.Variable, not {leaf!r} of type "
                    f"{type(leaf).__name__!r}."
                )
            tangent = self._accumulator.tangent(leaf)
            return zeros_like(leaf) if zeros and tangent is None else tangent

        return nest.map_structure(tangent_of, target)
