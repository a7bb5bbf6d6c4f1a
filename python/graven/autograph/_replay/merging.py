"""From runs to a tree: where paths part, and where they are one again.

A Step list is what follows some point of a run:

    Write(start, end)   the nodes of the run from one position to another
    Join(...)           a condition whose two sides meet again: both give values, then it goes on
    Split(...)          a condition whose sides stay apart up to the end; the last step
    Check(...)          a condition that must have one value: its other side fails an assertion
    End()               the result; the last step

Sides meet where both runs have the same conditions before them, at the same places, with equal
states, and the same nodes up to the values that the sides leave. Everything that goes on reads of
the sides must be one of these values. What is told of runs that answer True to all that follows
holds for the others too, since they go on from equal states.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from graven import _engine
from graven.autograph._replay.runs import Run, Runs
from graven.autograph._replay.states import state_of_value

Value = tuple[int, int]  # the number of a node in its run, and of its output


class Write(NamedTuple):
    """See the module; so for the other steps."""

    start: int
    end: int


class End(NamedTuple):
    """The result."""


class Check(NamedTuple):
    """A condition one side of which raises an AssertionError."""

    fork: int
    must_be: bool
    failure: AssertionError


class Split(NamedTuple):
    """A condition whose sides stay apart."""

    fork: int
    if_true: list[Any]
    other: Run
    if_false: list[Any]


class Join(NamedTuple):
    """A condition whose sides meet again."""

    fork: int
    if_true: list[Any]
    other: Run
    if_false: list[Any]
    end: int  # the position in the run that says True
    values: list[tuple[Value, Any]]  # of the run, and the tensor of the other


Step = Write | Check | End | Split | Join


class Tree:
    """Explores the runs of a function.

    Args:
      runs: The runs.
    """

    def __init__(self, runs: Runs) -> None:
        self._runs = runs

    def steps(self, run: Run, first: int) -> list[Step]:
        """Returns the steps of a run from the condition before number `first` on."""
        count = len(run.forks)
        rest: list[Step] = [Write(_position(run, count - 1), len(run.path)), End()]
        for index in range(count - 1, first - 1, -1):
            joined = self._from(run, index, rest, count, ())
            if joined is None:
                other = self._runs.run(run, index)
                joined = [Split(index, rest, other, self.steps(other, index + 1))]
            rest = [Write(_position(run, index - 1), _position(run, index)), *joined]
        return rest

    def _until(
        self, run: Run, first: int, stop: int, end: int, needed: _Values
    ) -> list[Step] | None:
        """The steps of a run up to a position before condition `stop`, if all ways lead to it."""
        rest: list[Step] = [Write(_position(run, stop - 1), end)]
        for index in range(stop - 1, first - 1, -1):
            joined = self._from(run, index, rest, stop, needed)
            if joined is None:
                return None
            rest = [Write(_position(run, index - 1), _position(run, index)), *joined]
        return rest

    def _from(
        self, run: Run, index: int, rest: list[Step], stop: int, needed: _Values
    ) -> list[Step] | None:
        """The steps from a condition on, if its sides meet again, or one of them fails."""
        failure = run.forks[index].failure
        if failure is not None:
            return [Check(index, False, failure), *rest]
        other = self._runs.run(run, index)
        if other.failure is not None:
            return [Check(index, True, other.failure), *rest]
        return self._joined(run, index, other, rest, stop, needed)

    def _joined(
        self, run: Run, index: int, other: Run, rest: list[Step], stop: int, needed: _Values
    ) -> list[Step] | None:
        """The steps from a condition on, if its sides meet again; None if they do not.

        Args:
          run: The run that says True.
          index: The number of the condition.
          other: The run that says False.
          rest: What follows in `run`, with a Write first and before each condition.
          stop: The number of the condition before which the rest ends.
          needed: Values of the run that are needed after the rest.
        """
        if not self._runs.may_merge:
            return None
        ends_here = isinstance(rest[-1], (End, Split))
        for at in range(1, len(rest) if ends_here else len(rest) + 1):
            step = rest[at] if at < len(rest) else None
            if isinstance(step, Write):
                continue
            mine = step.fork if isinstance(step, (Check, Join, Split)) else stop
            theirs = len(other.forks) - (len(run.forks) - mine)
            if theirs <= index:
                continue
            before = rest[at - 1]
            assert isinstance(before, Write)
            after = [before, *rest[at:]]
            meeting = _meeting(run, mine, other, theirs, index, after, needed)
            if meeting is None:
                continue
            of_other = [tensor for _, tensor in meeting.values]
            if_false = self._until(other, index + 1, theirs, meeting.other_end, of_other)
            if if_false is None:
                continue
            if_true = [*rest[: at - 1], before._replace(end=meeting.end)]
            joined = Join(index, if_true, other, if_false, meeting.end, meeting.values)
            return [joined, before._replace(start=meeting.end), *rest[at:]]
        return None


_Values = Sequence[Any]


def _position(run: Run, fork: int) -> int:
    """The position of a condition; of what would come before the first and after the last, too."""
    if fork < 0:
        return 0
    return run.forks[fork].position if fork < len(run.forks) else len(run.path)


class _Meeting(NamedTuple):
    """Where the two sides of a condition meet: positions of both, and what the sides leave."""

    end: int
    other_end: int
    values: list[tuple[Value, Any]]


def _meeting(
    run: Run,
    mine: int,
    other: Run,
    theirs: int,
    index: int,
    after: list[Step],
    needed: _Values,
) -> _Meeting | None:
    """Where two runs meet, at or somewhat before conditions of both; None if they do not.

    Args:
      run: The one that says True.
      mine: The number of its condition.
      other: The one that says False.
      theirs: The number of its condition.
      index: The number of the condition at which they part.
      after: What follows in `run`; begins with the Write before the condition.
      needed: Values of `run` that are needed after that.
    """
    if not _same_conditions(run, mine, other, theirs):
        return None
    first = after[0]
    assert isinstance(first, Write)
    end, other_end = _position(run, mine), _position(other, theirs)
    least = end - first.end
    common = run.path.same_kinds_before(
        end, max(first.start, _position(run, mine - 1)), other.path, other_end,
        _position(other, theirs - 1),
    )  # fmt: skip
    is_at_end = mine == len(run.forks)
    back = common
    while back >= least and not (is_at_end and back == 0):
        parts = _Parts(run, end - back, other, other_end - back, run.forks[index].position)
        if parts.agree(mine, theirs):
            steps = [first._replace(start=end - back), *after[1:]]
            values = parts.values(steps, needed)
            if values is not None:
                return _Meeting(end - back, other_end - back, values)
        back = back // 2 if back > least else -1
    return None


def _same_conditions(run: Run, mine: int, other: Run, theirs: int) -> bool:
    pairs = list(zip(run.forks[mine:], other.forks[theirs:], strict=True))
    for one, two in pairs:
        if one.site != two.site or (one.failure is None) != (two.failure is None):
            return False
    if not pairs:
        return True
    mine_there, theirs_there = pairs[0][0].state, pairs[0][1].state
    if mine_there is None or theirs_there is None:
        return False
    return bool(mine_there.skeleton == theirs_there.skeleton)


class _Parts:
    """Two runs, each cut where they meet."""

    def __init__(self, run: Run, end: int, other: Run, other_end: int, parting: int) -> None:
        self._run = run
        self._end = end
        self._other = other
        self._other_end = other_end
        self._parting = parting
        self._of_other: dict[Value, Any] = {}  # by value of a side: the other's

    def agree(self, mine: int, theirs: int) -> bool:
        """Whether what follows is the same."""
        nodes = self._run.path.same_from(
            self._end, self._other.path, self._other_end, self._parting
        )
        if nodes is None:
            return False
        pairs: list[tuple[Any, Any]] = list(nodes)
        forks = zip(self._run.forks[mine:], self._other.forks[theirs:], strict=True)
        pairs += [(one.condition, two.condition) for one, two in forks]
        if mine < len(self._run.forks):
            one, two = self._run.forks[mine].state, self._other.forks[theirs].state
            assert one is not None and two is not None
            pairs += zip(one.tensors, two.tensors, strict=True)
        results = state_of_value(self._run.result), state_of_value(self._other.result)
        if results[0].skeleton != results[1].skeleton:
            return False
        pairs += zip(results[0].tensors, results[1].tensors, strict=True)
        return all(self._pair(one, two) for one, two in pairs)

    def _pair(self, one: Any, two: Any) -> bool:
        """Notes that a tensor of the other run stands for one of the first; False on a clash."""
        mine, theirs = self._run.path.find(one), self._other.path.find(two)
        if mine is None:
            return theirs is None and _is_same(one, two)
        number, output = mine
        if number < self._parting:
            return bool(theirs == mine)
        is_after = theirs is not None and theirs[0] >= self._other_end
        if number >= self._end or is_after:
            shift = self._other_end - self._end
            return bool(theirs == (number + shift, output)) and is_after
        before = self._of_other.setdefault(mine, two)
        return _is_same(before, two) and _is_like(one, two)

    def values(self, after: list[Step], needed: _Values) -> list[tuple[Value, Any]] | None:
        """What the sides leave to what follows; None if the other side does not have it."""
        found = _needed(self._run, after, self._parting, self._end)
        for tensor in needed:
            value = self._run.path.find(tensor)
            if value is not None and self._parting <= value[0] < self._end:
                found.add(value)
        if not found <= self._of_other.keys():
            return None
        return [(value, self._of_other[value]) for value in sorted(found)]


def _is_same(one: Any, two: Any) -> bool:
    if isinstance(one, _engine.SymbolicTensor) and isinstance(two, _engine.SymbolicTensor):
        return one.op is two.op and one.value_index == two.value_index
    return bool(one._id == two._id)


def _is_like(one: Any, two: Any) -> bool:
    """Whether all that is known of two tensors while tracing is the same."""
    if one.dtype != two.dtype or one.shape.rank != two.shape.rank:
        return False
    if one.shape.rank is not None and one.shape.as_list() != two.shape.as_list():
        return False
    known = _engine.static_value(one), _engine.static_value(two)
    if known[0] is None or known[1] is None:
        return known[0] is known[1]
    import numpy as np

    return bool(np.array_equal(known[0].numpy(), known[1].numpy()))


def _needed(run: Run, steps: list[Step], low: int, high: int) -> set[Value]:
    """The values of the nodes between two positions that steps use."""
    found: set[Value] = set()
    for step in steps:
        if isinstance(step, Write):
            found.update(run.path.reads_before(step.start, step.end))
        elif isinstance(step, End):
            found.update(_found(run, state_of_value(run.result).tensors))
        elif isinstance(step, Check):
            found.update(_found(run, [run.forks[step.fork].condition]))
        else:
            found.update(_found(run, [run.forks[step.fork].condition]))
            found |= _needed(run, step.if_true, low, high)
            found |= _needed(step.other, step.if_false, low, high)
            if isinstance(step, Join):
                found.update(value for value, _ in step.values)
                found.update(_found(step.other, [tensor for _, tensor in step.values]))
    return {value for value in found if low <= value[0] < high}


def _found(run: Run, tensors: list[Any]) -> list[Value]:
    values = (run.path.find(tensor) for tensor in tensors)
    return [value for value in values if value is not None]
