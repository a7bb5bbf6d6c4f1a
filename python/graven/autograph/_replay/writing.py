"""Writes the paths of a function into the graph that is being built."""

from __future__ import annotations

from typing import Any

from graven import _engine, _nest, _public
from graven import _functions as ops
from graven._debug_ops import Assert
from graven._type_spec import CompositeTensor
from graven.autograph._operators.branch_results import BranchResult, Outputs
from graven.autograph._operators.returns import is_return_value
from graven.autograph._replay.merging import Check, End, Join, Split, Step, Write
from graven.autograph._replay.runs import Run, Runs

_RESULT = ("<retval_>",)  # which may be None
assert is_return_value(_RESULT[0])


class _DifferentPathsError(Exception):
    """The sides of a condition do not give results of one type."""

    def __init__(self, run: Run, fork: int, error: Exception) -> None:
        super().__init__()
        self.run = run
        self.fork = fork
        self.error = error


def write(runs: Runs, run: Run, steps: list[Step]) -> Any:
    """Writes what the steps of a run say.

    Args:
      runs: All runs.
      run: The one to which the steps belong.
      steps: What Tree gives.

    Returns:
      The result of the function.

    Raises:
      TypeError: The results differ in structure or dtype.
    """
    try:
        return _written(run, steps)
    except _DifferentPathsError as different:
        place = different.run.forks[different.fork].place
        text = str(different.error).replace("'<retval_>'", "the result")
        error = TypeError(
            "true_fn and false_fn arguments to tf.cond must have the same number, type, and "
            "overall structure of return values: a function that runs once for each way through "
            f"its conditions must return the same kind of value after this one ({place}). {text}"
        )
        runs.fail(different.run, different.fork, error)
        raise


def _written(run: Run, steps: list[Step]) -> Any:
    for step in steps:
        if isinstance(step, Write):
            run.path.write(step.start, step.end)
        elif isinstance(step, Check):
            _check(run, step)
        elif isinstance(step, Join):
            _join(run, step)
        elif isinstance(step, Split):
            return _split(run, step)
        else:
            assert isinstance(step, End)
            return _result(run)
    return None


def _result(run: Run) -> Any:
    def written(leaf: Any) -> Any:
        if isinstance(leaf, _engine.Tensor):
            return run.path.written(leaf)
        if isinstance(leaf, CompositeTensor):
            spec = leaf._type_spec
            return spec.from_tensors([run.path.written(part) for part in spec.to_tensors(leaf)])
        return leaf

    return _nest.map_structure(written, run.result)


def _check(run: Run, step: Check) -> None:
    fork = run.forks[step.fork]
    where = f"{fork.place.file}, line {fork.place.line}, in {fork.place.function}"
    text = f"{step.failure} ({where})" if str(step.failure) else where
    condition = run.path.written(fork.condition)
    Assert(condition if step.must_be else ops.logical_not(condition), [text])


def _cond(run: Run, fork: int, if_true: Any, if_false: Any) -> Any:
    condition = run.path.written(run.forks[fork].condition)
    return _public.function("cond")(condition, if_true, if_false)


def _join(run: Run, step: Join) -> None:
    position = run.forks[step.fork].position

    def if_true() -> list[Any]:
        _written(run, step.if_true)
        return [run.path.written(run.path.tensor(value)) for value, _ in step.values]

    def if_false() -> list[Any]:
        step.other.path.adopt(run.path, position)
        _written(step.other, step.if_false)
        return [step.other.path.written(tensor) for _, tensor in step.values]

    outputs = _cond(run, step.fork, if_true, if_false)
    run.path.forget(position, step.end)
    for (value, _), output in zip(step.values, outputs, strict=True):
        run.path.bind(value, output)


def _split(run: Run, step: Split) -> Any:
    outputs = Outputs({})

    def if_true() -> list[Any]:
        return outputs.of_main(BranchResult("main", _RESULT, (_written(run, step.if_true),)))

    def if_false() -> list[Any]:
        step.other.path.adopt(run.path, run.forks[step.fork].position)
        result = _written(step.other, step.if_false)
        try:
            return outputs.of_else(BranchResult("else", _RESULT, (result,)))
        except (TypeError, ValueError) as error:
            raise _DifferentPathsError(run, step.fork, error) from None

    flat = _cond(run, step.fork, if_true, if_false)
    (value,) = outputs.packed(flat)
    return value
