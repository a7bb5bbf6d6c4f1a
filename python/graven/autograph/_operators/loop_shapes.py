"""Shapes of loop variables that change from iteration to iteration.

In the first attempt to trace a function (`attempts`) a loop variable keeps the shape that it has
before the loop, as in TensorFlow. In the second it gets the most specific shape that holds before
the loop and after every iteration. The body is traced with the shapes before the loop; where it
leaves others, sizes that differ become unknown, or the rank does, and the loop is traced again. A
shape can only lose a size, or its rank, each time: so there is an end.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from graven._tensor_shape import TensorShape, conforms


class _ShapesChangedError(Exception):
    """An iteration has left other shapes than it was traced with."""


class LoopShapes:
    """The shapes that the variables of one loop have in all iterations that were traced so far."""

    def __init__(self) -> None:
        self._shapes: dict[tuple[str, int], TensorShape] = {}
        self._have_changed = False
        self._error: Exception | None = None  # of the first that has changed

    def of(self, name: str, i: int, shape: TensorShape) -> TensorShape:
        """Returns the shape of a loop variable.

        Args:
          name: The name that it belongs to.
          i: Which of the name's leaves it is.
          shape: What is known of it otherwise.
        """
        known = self._shapes.get((name, i))
        return shape if known is None else known.most_specific_compatible_shape(shape)

    def note(self, name: str, i: int, invariant: TensorShape, after: TensorShape) -> bool:
        """Takes the shape of a loop variable after an iteration.

        Args:
          name: The name that it belongs to.
          i: Which of the name's leaves it is.
          invariant: The shape that the iteration was traced with.
          after: The shape after it.

        Returns:
          Whether that is another one.
        """
        if conforms(after, invariant):
            return False
        self._shapes[name, i] = invariant.most_specific_compatible_shape(after)
        self._have_changed = True
        return True

    def note_error(self, error: Exception) -> None:
        """Keeps what TensorFlow says of a change, for a loop that fails in another way, too."""
        if self._error is None:
            self._error = error

    def end_iteration(self) -> None:
        """Ends the trace of a loop whose body has left other shapes."""
        if self._have_changed:
            raise _ShapesChangedError

    def settle(self, trace: Callable[[], None]) -> None:
        """Traces a loop until its shapes stay.

        Args:
          trace: Traces it, with `of` and `note`.

        Raises:
          ValueError: A shape changes, and with a shape that may change the loop fails: then that is
            the cause.
        """
        while True:
            self._have_changed = False
            try:
                trace()
                return
            except _ShapesChangedError:
                continue
            except Exception as error:
                if self._error is None:
                    raise
                self._error.add_note(
                    "The loop was traced again, with a shape that may change, and that failed: "
                    f"{type(error).__name__}: {error}"
                )
                raise self._error from error

    def opened(self, name: str, leaves: Sequence[Any]) -> list[Any]:
        """Returns TensorSpecs with the shapes of loop variables.

        Args:
          name: The name that they belong to.
          leaves: What is known of them otherwise, as TensorSpecs.
        """
        return [
            type(leaf)(self.of(name, i, leaf.shape), leaf.dtype) for i, leaf in enumerate(leaves)
        ]
