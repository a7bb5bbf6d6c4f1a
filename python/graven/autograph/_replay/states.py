"""What a function goes on with after a condition: its place in the code and its local variables.

Two runs that are at one place with equal states go on in the same way. This can be told where all
of the state can be seen: in the function itself, in a statement with nothing on Python's stack but
the condition. A `for` keeps its iterator there, a `with` its exit, an expression its operands.
"""

from __future__ import annotations

import dis
import functools
import itertools
import sys
from types import CodeType, FrameType, FunctionType
from typing import Any, NamedTuple

from graven import _engine
from graven._type_spec import CompositeTensor

_PLAIN = (bool, int, float, complex, str, bytes, type(None), type(Ellipsis))
_ASKING = ("POP_JUMP", "JUMP_IF", "UNARY_NOT", "TO_BOOL")
MAX_PARTS = 10_000


class State(NamedTuple):
    """The local variables of a function.

    Attributes:
      skeleton: All but the tensors; equal for equal states.
      tensors: The tensors, in order.
      objects: What the skeleton names by identity, so that it lives.
    """

    skeleton: Any
    tensors: list[Any]
    objects: list[Any]


def state_of(frame: FrameType) -> State | None:
    """Returns the state of a function that asks for the truth of a tensor, None if some is hidden.

    Args:
      frame: Its frame.
    """
    if _depths(frame.f_code).get(frame.f_lasti) != 1:
        return None
    return state_of_value(dict(frame.f_locals))


def state_of_value(value: Any) -> State:
    """Returns what a value consists of."""
    tensors: list[Any] = []
    objects: list[Any] = []
    return State(_Reader(tensors, objects).read(value), tensors, objects)


def instruction_of(frame: FrameType) -> int:
    """Returns the offset of the instruction that a frame is at.

    CPython 3.11 calls in two instructions, and once it has specialised them in the first: the
    second is given for both.
    """
    at = frame.f_lasti
    if frame.f_code.co_code[at] != dis.opmap.get("PRECALL"):
        return at
    return next(offset for offset in _calls(frame.f_code) if offset > at)


@functools.lru_cache(maxsize=64)
def _calls(code: CodeType) -> list[int]:
    return [one.offset for one in dis.get_instructions(code) if one.opname == "CALL"]


class _Reader:
    def __init__(self, tensors: list[Any], objects: list[Any]) -> None:
        self._tensors = tensors
        self._objects = objects
        self._seen: dict[int, int] = {}  # to the number of a container: aliases count

    def read(self, value: Any) -> Any:
        if isinstance(value, _engine.Tensor):
            self._tensors.append(value)
            shape = value.shape
            sizes = None if shape.rank is None else tuple(shape.as_list())
            return ("tensor", value.dtype.name, sizes)
        if isinstance(value, CompositeTensor):
            spec = value._type_spec
            return ("composite", spec, tuple(map(self.read, spec.to_tensors(value))))
        if type(value) in _PLAIN:
            return (type(value).__name__, repr(value))
        if len(self._objects) > MAX_PARTS:
            return ("object", id(self))
        self._objects.append(value)
        seen = self._seen.setdefault(id(value), len(self._seen))
        if seen != len(self._seen) - 1:
            return ("again", seen)
        if type(value) in (list, tuple):
            return (type(value).__name__, tuple(map(self.read, value)))
        if type(value) is dict:
            return ("dict", tuple((self.read(k), self.read(v)) for k, v in value.items()))
        if type(value) is FunctionType and value.__closure__ is not None:
            return self._function(value)
        return ("object", id(value))

    def _function(self, function: FunctionType) -> Any:
        """A function that a run makes: its code and what it closes over."""
        cells = []
        for cell in function.__closure__ or ():
            try:
                cells.append(self.read(cell.cell_contents))
            except ValueError:  # It has no value yet.
                cells.append("empty")
        defaults = self.read((function.__defaults__, function.__kwdefaults__))
        return ("function", id(function.__code__), tuple(cells), defaults)


@functools.lru_cache(maxsize=64)
def _depths(code: CodeType) -> dict[int, int]:
    """How much lies on Python's stack before each instruction that asks for a truth, by offset.

    Instructions that are reached through exceptions only are left out.
    """
    instructions = list(dis.get_instructions(code))
    next_of = {one.offset: two.offset for one, two in itertools.pairwise(instructions)}
    by_offset = {one.offset: one for one in instructions}
    depths: dict[int, int] = {}
    pending = [(instructions[0].offset, 0)]
    while pending:
        offset, depth = pending.pop()
        if offset in depths:
            continue
        depths[offset] = depth
        one = by_offset[offset]
        argument = one.arg if one.opcode >= dis.HAVE_ARGUMENT else None
        if one.opcode in dis.hasjrel or one.opcode in dis.hasjabs:
            effect = dis.stack_effect(one.opcode, argument, jump=True)
            pending.append((one.argval, depth + effect))
        ends = one.opname in ("RETURN_VALUE", "RETURN_CONST", "RAISE_VARARGS", "RERAISE")
        always_jumps = one.opname in ("JUMP_FORWARD", "JUMP_BACKWARD", "JUMP_BACKWARD_NO_INTERRUPT")
        if not ends and not always_jumps and offset in next_of:
            effect = dis.stack_effect(one.opcode, argument, jump=False)
            pending.append((next_of[offset], depth + effect))
    return {
        offset: depth
        for offset, depth in depths.items()
        if by_offset[offset].opname.startswith(_ASKING)
    }


assert sys.implementation.name == "cpython", "states are read off CPython's frames"
