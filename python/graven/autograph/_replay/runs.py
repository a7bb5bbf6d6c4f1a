"""Runs of a function under an oracle, one for each sequence of answers."""

from __future__ import annotations

import random
import sys
from collections.abc import Callable
from types import CodeType, FrameType
from typing import Any, NamedTuple

from graven import _engine, errors
from graven.autograph._causes import REFUSED
from graven.autograph._operators.conditions import scalar_condition
from graven.autograph._replay.effects import Effects
from graven.autograph._replay.states import State, instruction_of, state_of

MAX_RUNS = 2000
MAX_VISITS = 100  # of one condition in one run
MAX_CONDITIONS = 200  # in one run

Site = tuple[tuple[CodeType, int], ...]  # the frames of a condition, the innermost first


class Place(NamedTuple):
    """Where a condition stands."""

    file: str
    line: int
    function: str

    def __str__(self) -> str:
        return f'File "{self.file}", line {self.line}, in {self.function}'


class Fork:
    """A condition on a tensor, in one run.

    Args:
      condition: The tensor.
      position: How many nodes the run had made.
      site: Where it was asked for.
      place: The user's line.
      state: The state of the function; None if not all of it can be seen.

    Attributes:
      failure: What every way with the answer True raised, where the answer is False for that.
    """

    def __init__(
        self, condition: Any, position: int, site: Site, place: Place, state: State | None
    ) -> None:
        self.failure: AssertionError | None = None
        self.condition = condition
        self.position = position
        self.site = site
        self.place = place
        self.state = state


class Run:
    """One run.

    Args:
      answers: What the oracle said, in order; after these, it said True.
      forks: The conditions.
      path: The nodes.
      result: What the function returned.
      failure: The AssertionError that it raised after the last condition, in place of a result.
    """

    def __init__(
        self,
        answers: tuple[bool, ...],
        forks: list[Fork],
        path: Any,
        result: Any,
        failure: AssertionError | None = None,
    ) -> None:
        self.failure = failure
        self.answers = answers
        self.forks = forks
        self.path = path
        self.result = result

    def turned(self, index: int) -> tuple[bool, ...]:
        """The answers that part from this run at a condition."""
        before = (*self.answers, *[True] * len(self.forks))[:index]
        return (*before, False)


def refusal(place: Place, text: str) -> Exception:
    """The error of a condition that re-execution cannot put into a graph."""
    return errors.OperatorNotAllowedInGraphError(
        f"Using a symbolic `tf.Tensor` as a Python `bool` is not allowed here ({place}): the "
        f"function runs without conversion, and {REFUSED}, because {text} See "
        "docs/errors/symbolic-tensor.md"
    )


class _Oracle:
    """Answers for the truth of the tensors of a graph, in one run."""

    def __init__(
        self,
        replay: Any,
        answers: tuple[bool, ...],
        failure: tuple[int, Exception] | None = None,
        look: Callable[[], None] | None = None,
    ) -> None:
        self._replay = replay
        self._answers = answers
        self._failure = failure
        self._look = look
        self._visits: dict[Site, int] = {}
        self.forks: list[Fork] = []
        self.error: Exception | None = None

    def __call__(self, tensor: Any) -> Any:
        if not self._replay.is_current():
            return NotImplemented
        value = _engine.static_value(tensor)
        return self._ask(tensor, sys._getframe(1)) if value is None else bool(value)

    def _ask(self, tensor: Any, frame: FrameType) -> bool:
        frames = _frames(frame)
        site = tuple((f.f_code, instruction_of(f)) for f in frames)
        place = _place(frames)
        try:
            condition = scalar_condition(tensor, "if statement")
        except ValueError as error:
            raise refusal(place, f"{error}.") from None
        index = len(self.forks)
        if self._failure is not None and self._failure[0] == index:
            self._fail(self._failure[1])
        visits = self._visits[site] = self._visits.get(site, 0) + 1
        if visits > MAX_VISITS:
            self._fail(
                refusal(
                    place,
                    f"one run came to this condition more than {MAX_VISITS} times. A loop whose "
                    "end depends on a tensor must be written with tf.while_loop.",
                )
            )
        if index >= MAX_CONDITIONS:
            self._fail(
                refusal(
                    place, f"one run comes to more than {MAX_CONDITIONS} conditions. Use tf.cond."
                )
            )
        if self._look is not None and index == 0:
            self._look()
        state = state_of(frames[0]) if len(frames) == 1 else None
        self.forks.append(Fork(condition, self._replay.num_nodes(), site, place, state))
        return self._answers[index] if index < len(self._answers) else True

    def _fail(self, error: Exception) -> None:
        self.error = error
        raise error


def _frames(frame: FrameType) -> list[FrameType]:
    """The frames from one up to the function's, which Runs calls."""
    frames = []
    found: FrameType | None = frame
    while found is not None and found.f_code is not _CALL:
        frames.append(found)
        found = found.f_back
    return frames


def _place(frames: list[FrameType]) -> Place:
    for frame in frames:
        module = frame.f_globals.get("__name__")
        if not isinstance(module, str) or module.partition(".")[0] != "graven":
            break
    return Place(frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_name)


def _call(function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    return function(*args, **kwargs)


_CALL = _call.__code__


class Runs:
    """The runs of one call of a function, in the graph that is being built.

    Args:
      function: The function.
      args: Its positional arguments.
      kwargs: Its keyword arguments.
    """

    def __init__(
        self, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> None:
        import numpy as np

        self._function = function
        self._args = args
        self._kwargs = kwargs
        self._replay = _engine.start_replay()
        self._by_answers: dict[tuple[bool, ...], Run] = {}
        self._effects: Effects | None = None
        self._random = (random.getstate(), np.random.get_state())
        self._set_random_of_numpy = np.random.set_state
        self._num_runs = 0
        self.may_merge = not self._replay.has_listeners()
        self.keeps_first_nodes = True  # those before the first condition stay in the graph

    def first(self) -> Run | Any:
        """Runs the function for the first time.

        Returns:
          The Run; or, if there was no condition, what the function returns.

        Raises:
          AssertionError: All ways fail, or an assertion fails before the first condition.
        """
        oracle, result, failure = self._under_oracle(())
        if oracle.forks and self._replay.has_created_variables():
            # What is there now is not created again. Only the initial values stay.
            self._replay.drop_run()
            self._effects = None
            self._start_run()
            oracle, result, failure = self._under_oracle(())
        if not oracle.forks:
            if failure is not None:
                raise failure
            return result
        kept = oracle.forks[0].position if failure is None else 0
        run = Run((), oracle.forks, self._replay.end_run(kept), result, failure)
        self.keeps_first_nodes = failure is None
        run = self._without_failures(run, 0)
        self._check_effects(run, 0)
        if run.failure is not None:
            raise run.failure
        self._by_answers[()] = run
        return run

    def run(self, parent: Run, index: int) -> Run:
        """Runs the function with the answers of another run up to a condition, and then False."""
        answers = parent.turned(index)
        known = self._by_answers.get(answers)
        if known is not None:
            return known
        run = self._without_failures(self._turned(parent, index), len(answers))
        self._by_answers[answers] = run
        return run

    def _turned(self, parent: Run, index: int) -> Run:
        """Runs the function with the answers of another run up to a condition, and then False."""
        if self._num_runs >= MAX_RUNS:
            self.fail(
                parent,
                index,
                refusal(
                    parent.forks[index].place,
                    f"there are more than {MAX_RUNS} ways. Use tf.cond.",
                ),
            )
        answers = parent.turned(index)
        oracle, result, path, failure = self._again(answers)
        run = Run(answers, oracle.forks, path, result, failure)
        self._check(parent, index, run)
        return run

    def _without_failures(self, run: Run, num_given: int) -> Run:
        """Turns answers after which all ways fail an assertion.

        Args:
          run: A run that answers True after the first answers.
          num_given: How many answers are not to be turned.

        Returns:
          The run, or one that does not fail. If there is none, one that fails.
        """
        failures: dict[int, AssertionError] = {}
        while run.failure is not None:
            index = len(run.forks) - 1
            while failures.pop(index, None) is not None:  # Both ways fail.
                index -= 1
            if index < num_given:
                return run
            failures[index] = run.failure
            run = self._turned(run, index)
        for index, failure in failures.items():
            run.forks[index].failure = failure
        return run

    def fail(self, run: Run, index: int, error: Exception) -> None:
        """Raises an error at a condition of a run: from the user's line."""
        self._again(run.turned(index), (index, error))
        raise error  # The user's code has caught it.

    def finish(self) -> None:
        """Drops what was run."""
        self._replay.finish()

    def _again(
        self, answers: tuple[bool, ...], error: tuple[int, Exception] | None = None
    ) -> tuple[_Oracle, Any, Any, AssertionError | None]:
        self._start_run()
        try:
            oracle, result, failure = self._under_oracle(answers, error)
        except BaseException:
            self._replay.drop_run()
            raise
        return oracle, result, self._replay.end_run(0), failure

    def _start_run(self) -> None:
        random.setstate(self._random[0])
        self._set_random_of_numpy(self._random[1])
        self._replay.start_run()

    def _under_oracle(
        self, answers: tuple[bool, ...], error: tuple[int, Exception] | None = None
    ) -> tuple[_Oracle, Any, AssertionError | None]:
        """Calls the function: what it was asked, returned, and failed with."""
        self._num_runs += 1
        oracle = _Oracle(
            self._replay, answers, error, self._look if self._effects is None else None
        )
        before = _engine.set_truth_oracle(oracle)
        result = failure = None
        try:
            result = _call(self._function, self._args, self._kwargs)
        except AssertionError as raised:
            failure = raised
        finally:
            _engine.set_truth_oracle(before)
        if oracle.error is not None:
            raise oracle.error
        return oracle, result, failure

    def _look(self) -> None:
        self._effects = Effects(self._function, self._args, self._kwargs)

    def _check(self, parent: Run, index: int, run: Run) -> None:
        """Raises unless a run did the same as another up to the condition at which they part."""
        fork = parent.forks[index]
        if len(run.forks) <= index or run.forks[index].site != fork.site:
            came = f"it came to {run.forks[index].place}" if len(run.forks) > index else "it ended"
            self.fail(
                parent,
                index,
                refusal(fork.place, f"a second run did not come to this condition: {came}."),
            )
        self._check_effects(parent, index)
        differs = parent.path.first_difference(run.path, fork.position)
        if differs >= 0 or run.forks[index].position != fork.position:
            self.fail(
                parent,
                index,
                refusal(
                    fork.place,
                    f"a second run came to it with other operations before it: first "
                    f"{parent.path.node_text(differs)}, then {run.path.node_text(differs)}. What a "
                    "function does up to a condition must depend on its arguments only.",
                ),
            )

    def _check_effects(self, run: Run, index: int) -> None:
        assert self._effects is not None
        changed = self._effects.changed()
        if changed is not None:
            self.fail(
                run,
                index,
                refusal(
                    run.forks[index].place,
                    f"{changed} A function that is run again must not change Python's "
                    "objects: return what changes, or keep it in a tf.Variable.",
                ),
            )
