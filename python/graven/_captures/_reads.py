"""What a function reads of the world outside of it, found in its byte code.

Values on the stack of the interpreter are followed as far as they are *paths*: a root and steps
from it, `cfg.layers[0].rate` as `(("global", "cfg"), (".", "layers"), ("[", 0), (".", "rate"))`.
What cannot be followed is nothing; no instruction is needed to be known. A path is *used* where its
value goes anywhere but on along the path: into a computation, a condition, a call. Not used are
values that only a log sees, and those that only change themselves, such as counters.
"""

from __future__ import annotations

import dis
from collections.abc import Iterable
from types import CodeType
from typing import Any

from graven._captures._byte_code import Instruction, instructions, parameters
from graven._captures._paths import (
    ARGUMENT,
    ATTRIBUTE,
    CALLED,
    CELL,
    EACH,
    GLOBAL,
    ITEM,
    LENGTH,
    Call,
    Path,
    Reads,
    Step,
)

_MAX_PATHS = 16  # of one value
_MAX_STEPS = 12


class _Value:
    """A value on the stack.

    Attributes:
      paths: Where it may be found.
      taints: Paths whose values it was made of.
      item: What iterating over it gives, if that is known.
      parts: The parts of a tuple, or of each item of zip and the like.
      code: The code of a function that was made here, with the scope it was made in.
      constant: A constant, in a tuple of one.
    """

    __slots__ = ("code", "constant", "item", "parts", "paths", "taints")

    def __init__(
        self,
        paths: Iterable[Path] = (),
        taints: Iterable[Path] = (),
        item: _Value | None = None,
        parts: tuple[_Value, ...] | None = None,
        code: tuple[CodeType, _Scope] | None = None,
        constant: tuple[Any] | None = None,
    ) -> None:
        self.paths = frozenset(paths)
        self.taints = frozenset(taints)
        self.item = item
        self.parts = parts
        self.code = code
        self.constant = constant


_NOTHING = _Value()
_NULL = _Value()
_SELF = _Value()

_LOGS = frozenset({"debug", "info", "warning", "warn", "error", "exception", "critical", "log"})
_CHANGES = frozenset(
    {"append", "extend", "insert", "add", "update", "clear", "remove", "discard", "setdefault"}
)
# Methods that change an object, and whose result or work depends on what it holds.
_READING_CHANGES = frozenset({"pop", "popitem", "popleft", "sort", "reverse"})
_HOST_CALLS = frozenset({(ATTRIBUTE, "py_function"), (ATTRIBUTE, "numpy_function")})
_WHOLE_VIEWS = frozenset({"items", "values", "keys", "copy"})
_SAME_ITEMS = frozenset({"list", "tuple", "reversed", "sorted", "iter", "set", "frozenset"})


class _Scope:
    """The variables of one code object: local names, and cells by way of the scopes around."""

    def __init__(self, code: CodeType, outer: _Scope | None) -> None:
        self.names: dict[str, _Value] = {}
        self.free = frozenset(code.co_freevars)
        self.outer = outer

    def owner(self, name: str) -> _Scope | None:
        if name not in self.free:
            return self
        return self.outer.owner(name) if self.outer is not None else None

    def load(self, name: str) -> _Value:
        owner = self.owner(name)
        if owner is None:
            return _Value([((CELL, name),)])
        return owner.names.get(name, _NOTHING)

    def store(self, name: str, value: _Value) -> None:
        owner = self.owner(name)
        if owner is not None:
            before = owner.names.get(name)
            owner.names[name] = value if before is None else _joined(before, value)


def _joined(a: _Value, b: _Value) -> _Value:
    if a is b:
        return a
    paths = a.paths | b.paths
    if len(paths) > _MAX_PATHS:
        paths = frozenset(sorted(paths, key=repr)[:_MAX_PATHS])
    return _Value(
        paths, a.taints | b.taints, a.item or b.item, a.parts or b.parts, a.code or b.code
    )


def _stepped(value: _Value, step: Step) -> _Value:
    paths = [(*path, step) for path in value.paths if len(path) < _MAX_STEPS]
    return _Value(paths, value.taints)


def _is_plain(constant: Any) -> bool:
    return isinstance(constant, str | int | bytes)


class _Reader:
    """Reads one code object, and those of the functions that it makes."""

    def __init__(self, reads: Reads, code: CodeType, scope: _Scope, depth: int) -> None:
        self.reads = reads
        self.code = code
        self.scope = scope
        self.depth = depth
        self.stack: list[_Value] = []
        self.at_label: dict[int, list[_Value]] = {}
        self.keyword_names: tuple[str, ...] = ()
        self.line = code.co_firstlineno
        self.read_at: dict[Path, int] = {}  # the line where a value was loaded that is used later
        self.done: set[Any] = set()
        self.has_loop = False
        self.calls: dict[Any, Call] = {}  # by place, the same when the code is read again
        self.offset = 0

    # --- The stack.

    def pop(self) -> _Value:
        return self.stack.pop() if self.stack else _NOTHING

    def pop_many(self, n: int) -> list[_Value]:
        return [self.pop() for _ in range(n)][::-1]

    def push(self, value: _Value) -> None:
        for path in value.paths:
            self.read_at.setdefault(path, self.line)
        self.stack.append(value)

    def use(self, *values: _Value) -> None:
        for value in values:
            for path in (*value.paths, *value.taints):
                self.reads.used.setdefault(path, self.read_at.get(path, self.line))
            for part in value.parts or ():
                self.use(part)
            if value.code is not None:
                self.read_inner(value, ())

    def use_all(self) -> None:
        self.use(*self.stack)

    def made_of(self, *values: _Value) -> _Value:
        """A value that was computed of others; nothing is used yet."""
        taints: set[Path] = set()
        for value in values:
            taints |= value.paths | value.taints
            for part in value.parts or ():
                taints |= part.paths | part.taints
            if value.code is not None:
                self.use(value)
        return _Value((), taints)

    def read_inner(self, function: _Value, args: tuple[_Value, ...]) -> _Value:
        assert function.code is not None
        code, scope = function.code
        key = (id(code), tuple(arg.paths for arg in args))
        if self.depth > 8 or key in self.done:
            return _NOTHING
        self.done.add(key)
        inner_reads = Reads()
        inner = _Reader(inner_reads, code, _Scope(code, scope), self.depth + 1)
        inner.done = self.done
        inner.calls = self.calls
        names = code.co_varnames[: code.co_argcount]
        inner.scope.names.update(zip(names, args, strict=False))
        inner.run()
        for path, line in inner_reads.used.items():
            self.reads.used.setdefault(path, line)
        for path, sites in inner_reads.passed.items():
            self.reads.passed.setdefault(path, []).extend(sites)
        self.reads.changed.update(inner_reads.changed)
        self.reads.calls += inner_reads.calls
        return _Value(inner_reads.returned)

    # --- Instructions.

    def run(self) -> None:
        self.run_once()
        # What a loop stores is read by its next iteration.
        for _ in range(2 if self.has_loop else 0):
            self.reads.calls.clear()
            self.done.clear()
            self.stack, self.at_label = [], {}
            self.run_once()

    def run_once(self) -> None:
        ends = False
        for instruction in instructions(self.code):
            if instruction.starts_line is not None:
                self.note_line(instruction)
            if instruction.is_jump_target:
                saved = self.at_label.get(instruction.offset)
                if ends:
                    self.stack = list(saved or ())
            ends = self.step(instruction)

    def note_line(self, instruction: Instruction) -> None:
        line = instruction.starts_line
        if line is True:  # from 3.13 on
            line = instruction.line_number
        if isinstance(line, int) and not isinstance(line, bool):
            self.line = line

    def step(self, instruction: Instruction) -> bool:
        """Does what an instruction does; True if the next one does not follow it."""
        name = instruction.opname
        self.offset = instruction.offset
        handler = _HANDLERS.get(name)
        if handler is not None:
            return bool(handler(self, instruction))
        if name.startswith(("POP_JUMP", "JUMP_IF", "FOR_ITER", "SEND", "JUMP_BACKWARD_IF")):
            return self.conditional(instruction)
        if name.startswith("JUMP"):
            self.has_loop |= "BACKWARD" in name
            self.use_all()
            self.at_label.setdefault(instruction.argval, list(self.stack))
            return True
        if name.startswith(("RETURN", "RAISE", "RERAISE")):
            return self.leave(instruction)
        self.unknown(instruction)
        return False

    def unknown(self, instruction: Instruction) -> None:
        """An instruction that takes what it likes: all that may be is used."""
        self.use_all()
        try:
            effect = dis.stack_effect(instruction.opcode, instruction.arg, jump=False)
        except ValueError:
            effect = -len(self.stack)
        size = max(0, len(self.stack) + effect)
        self.stack = [_NOTHING] * size

    def conditional(self, instruction: Instruction) -> bool:
        name = instruction.opname
        if name == "FOR_ITER":
            iterator = self.stack[-1] if self.stack else _NOTHING
            self.at_label.setdefault(instruction.argval, self.stack[:-1])
            self.push(iterator.item or _NOTHING)
            return False
        if name == "SEND":
            self.unknown(instruction)
            return False
        self.has_loop |= "BACKWARD" in name
        condition = self.pop()
        self.use(condition)
        if name.endswith("OR_POP"):
            self.at_label.setdefault(instruction.argval, [*self.stack, condition])
        else:
            self.at_label.setdefault(instruction.argval, list(self.stack))
        return False

    def leave(self, instruction: Instruction) -> bool:
        if instruction.opname == "RETURN_GENERATOR":
            self.push(_NOTHING)
            return False
        value = self.pop() if instruction.opname == "RETURN_VALUE" else _NOTHING
        self.reads.returned |= value.paths
        self.use(value)
        self.use_all()
        return True

    def load_global(self, instruction: Instruction) -> None:
        if instruction.opname == "LOAD_GLOBAL" and (instruction.arg or 0) & 1:
            self.push(_NULL)
        self.push(_Value([((GLOBAL, instruction.argval),)]))

    def load_local(self, instruction: Instruction) -> None:
        names = instruction.argval
        for name in names if isinstance(names, tuple) else (names,):
            self.push(self.scope.load(name))

    def load_constant(self, instruction: Instruction) -> None:
        value = instruction.argval
        self.push(_Value(constant=(value,)))

    def load_attribute(self, instruction: Instruction) -> None:
        value = self.pop()
        is_method = instruction.opname == "LOAD_METHOD" or (
            dis.opmap.get("LOAD_METHOD", 256) > 255
            and instruction.opname == "LOAD_ATTR"
            and bool((instruction.arg or 0) & 1)
        )
        self.push(_stepped(value, (ATTRIBUTE, instruction.argval)))
        if is_method:
            self.push(_SELF)

    def load_closure(self, instruction: Instruction) -> None:
        self.push(_NOTHING)  # cells are found by name

    def push_null(self, instruction: Instruction) -> None:
        self.push(_NULL)

    def nothing(self, instruction: Instruction) -> None:
        """Leaves the stack as it is."""

    def pop_top(self, instruction: Instruction) -> None:
        value = self.pop()
        if value.code is not None:
            self.use(value)

    def copy(self, instruction: Instruction) -> None:
        n = instruction.arg or 1
        self.push(self.stack[-n] if n <= len(self.stack) else _NOTHING)

    def swap(self, instruction: Instruction) -> None:
        n = instruction.arg or 1
        if n <= len(self.stack):
            self.stack[-1], self.stack[-n] = self.stack[-n], self.stack[-1]
        elif self.stack:
            self.stack[-1] = _NOTHING

    # Stores. A value that was made of the very thing it is stored to has only changed itself.

    def stored(self, value: _Value, target: frozenset[Path]) -> None:
        for path in target:
            self.reads.changed.setdefault(path, self.line)
        if value.code is not None:
            self.use(value)
            return
        if value.parts:
            self.use(*value.parts)
        for path in value.paths | value.taints:
            if path not in target:
                self.reads.used.setdefault(path, self.line)

    def store_local(self, instruction: Instruction) -> None:
        names = instruction.argval
        for name in names[::-1] if isinstance(names, tuple) else (names,):
            value = self.pop()
            owner = self.scope.owner(name)
            if owner is None:
                self.stored(value, frozenset([((CELL, name),)]))
            elif value.constant is not None:
                self.scope.store(name, _NOTHING)  # a loop may store another
            else:
                self.scope.store(name, value)

    def store_and_load(self, instruction: Instruction) -> None:
        stored, loaded = instruction.argval
        self.scope.store(stored, self.pop())
        self.push(self.scope.load(loaded))

    def store_global(self, instruction: Instruction) -> None:
        self.stored(self.pop(), frozenset([((GLOBAL, instruction.argval),)]))

    def store_attribute(self, instruction: Instruction) -> None:
        owner = self.pop()
        target = _stepped(owner, (ATTRIBUTE, instruction.argval))
        self.stored(self.pop(), target.paths)

    def store_item(self, instruction: Instruction) -> None:
        key, owner, value = self.pop(), self.pop(), self.pop()
        self.use(key)
        if key.constant is not None and _is_plain(key.constant[0]):
            self.stored(value, _stepped(owner, (ITEM, key.constant[0])).paths)
            return
        self.stored(value, frozenset())
        for path in owner.paths:
            self.reads.changed.setdefault(path, self.line)

    def delete(self, instruction: Instruction) -> None:
        name = instruction.argval
        target: frozenset[Path] = frozenset()
        match instruction.opname:
            case "DELETE_SUBSCR":
                target = self.stack[-2].paths if len(self.stack) > 1 else target
            case "DELETE_ATTR":
                target = _stepped(self.stack[-1], (ATTRIBUTE, name)).paths if self.stack else target
            case "DELETE_GLOBAL" | "DELETE_NAME":
                target = frozenset([((GLOBAL, name),)])
            case "DELETE_DEREF" if self.scope.owner(name) is None:
                target = frozenset([((CELL, name),)])
        for path in target:
            self.reads.changed.setdefault(path, self.line)
        self.unknown(instruction)

    # Computations.

    def binary(self, instruction: Instruction) -> None:
        if instruction.opname == "BINARY_OP" and instruction.argrepr in ("[]", "NB_SUBSCR"):
            self.item(instruction)
            return
        right, left = self.pop(), self.pop()
        self.push(self.made_of(left, right))

    def unary(self, instruction: Instruction) -> None:
        self.push(self.made_of(self.pop()))

    def compare(self, instruction: Instruction) -> None:
        right, left = self.pop(), self.pop()
        self.push(self.made_of(left, right))

    def build(self, instruction: Instruction) -> None:
        name, n = instruction.opname, instruction.arg or 0
        if name == "BUILD_MAP":
            n *= 2
        elif name == "BUILD_CONST_KEY_MAP":
            n += 1
        parts = self.pop_many(n)
        if name in ("BUILD_TUPLE", "BUILD_LIST") and all(p.code is None for p in parts):
            item = _NOTHING
            for part in parts:
                item = _joined(item, part)
            self.push(_Value(item=item if parts else None, parts=tuple(parts)))
        else:
            self.push(self.made_of(*parts))

    def extend(self, instruction: Instruction) -> None:
        value = self.pop()
        at = instruction.arg or 1
        if at <= len(self.stack):
            self.stack[-at] = self.made_of(self.stack[-at], value)
        else:
            self.use(value)

    def map_add(self, instruction: Instruction) -> None:
        value = self.made_of(self.pop(), self.pop())
        self.push(value)
        self.extend(instruction)

    def format(self, instruction: Instruction) -> None:
        if instruction.opname == "FORMAT_VALUE" and (instruction.arg or 0) & 4:
            self.pop()
        self.push(self.made_of(self.pop()))

    def unpack(self, instruction: Instruction) -> None:
        value, n = self.pop(), instruction.arg or 0
        if value.parts is not None and len(value.parts) == n:
            parts = list(value.parts)
        else:
            parts = [_Value((*_stepped(value, (ITEM, i)).paths,), value.taints) for i in range(n)]
        self.stack += parts[::-1]

    def item(self, instruction: Instruction) -> None:
        key, owner = self.pop(), self.pop()
        if key.constant is not None and _is_plain(key.constant[0]):
            index = key.constant[0]
            parts = owner.parts if isinstance(index, int) else None
            if parts is not None and -len(parts) <= index < len(parts):
                self.push(parts[index])
                return
            self.push(_stepped(owner, (ITEM, index)))
            return
        # Which item, only running tells: the whole of it is read.
        self.use(key, owner)
        self.push(_stepped(owner, (EACH, None)))

    def slice(self, instruction: Instruction) -> None:
        end, start, owner = self.pop(), self.pop(), self.pop()
        self.use(end, start, owner)
        item = _stepped(owner, (EACH, None))
        self.push(_Value((), owner.taints, item))

    def iterate(self, instruction: Instruction) -> None:
        value = self.pop()
        self.use(value)
        item = value.item or _stepped(value, (EACH, None))
        self.push(_Value((), (), item))

    def make_function(self, instruction: Instruction) -> None:
        flags = instruction.arg or 0
        code = self.pop()
        if (
            instruction.opname == "MAKE_FUNCTION"
            and dis.opmap.get("SET_FUNCTION_ATTRIBUTE") is None
        ):
            self.use(*self.pop_many(bin(flags).count("1")))
        if code.constant is not None and isinstance(code.constant[0], CodeType):
            self.push(_Value(code=(code.constant[0], self.scope)))
        else:
            self.push(_NOTHING)

    def set_function_attribute(self, instruction: Instruction) -> None:
        function, value = self.pop(), self.pop()
        self.use(value)
        self.push(function)

    def note_keyword_names(self, instruction: Instruction) -> None:
        names = instruction.argval
        if not isinstance(names, tuple):
            names = self.code.co_consts[instruction.arg or 0]
        self.keyword_names = names

    def call(self, instruction: Instruction) -> None:
        names, self.keyword_names = self.keyword_names, ()
        if instruction.opname == "CALL_KW":
            constant = self.pop().constant
            names = constant[0] if constant else ()
        args = self.pop_many(instruction.arg or 0)
        upper, lower = self.pop(), self.pop()
        callee = lower if upper is _SELF or upper is _NULL else upper
        if lower.code is not None and callee is upper:  # a comprehension and its iterator
            callee = lower
            args.insert(0, upper)
        split = len(args) - len(names)
        self.push(self.called(callee, args[:split], dict(zip(names, args[split:], strict=True))))

    def call_with_lists(self, instruction: Instruction) -> None:
        if (instruction.arg or 0) & 1 or instruction.opname == "CALL_KW_FUNCTION_EX":
            self.use(self.pop())
        args = self.pop()
        self.use(args)
        callee = self.pop()
        if callee is _NULL or callee is _SELF:
            callee = self.pop()
        elif self.stack and self.stack[-1] is _NULL:
            self.pop()
        self.push(self.called(callee, list(args.parts or ()), {}))

    def called(self, callee: _Value, args: list[_Value], kwargs: dict[str, _Value]) -> _Value:
        if callee.code is not None:
            result = self.read_inner(callee, tuple(args))
            self.use(*args, *kwargs.values())
            return result
        known = _known_call(callee)
        if known == "log":
            return _NOTHING
        if _is_host_call(callee):  # what such a function reads, it reads when the graph runs
            args = [_NOTHING if arg.code is not None else arg for arg in args]
            kwargs = {name: _NOTHING if a.code is not None else a for name, a in kwargs.items()}
        if known is not None:
            self.use(*kwargs.values())
            handled = self.builtin(known, callee, args)
            if handled is not None:
                if known == "get" or known in _WHOLE_VIEWS:  # or a method of the user's
                    self.noted_call(callee, [], {})
                return handled
        if known != "change":
            self.use(_Value(callee.paths, callee.taints))
        if known == "change" or _is_reading_change(callee):
            for path in callee.paths:
                self.reads.changed.setdefault(path[:-1], self.line)
        if known == "change" or not callee.paths:
            self.use(*args, *kwargs.values())
        if not callee.paths:
            return _NOTHING
        call = self.noted_call(callee, args, kwargs)
        if known != "change":
            for i, value in enumerate(args):
                self.passed(value, call, i)
            for name, value in kwargs.items():
                self.passed(value, call, name)
        return _Value((*path, (CALLED, call)) for path in callee.paths if len(path) < _MAX_STEPS)

    def noted_call(self, callee: _Value, args: list[_Value], kwargs: dict[str, _Value]) -> Call:
        call = self.calls.setdefault((id(self.code), self.offset), Call())
        text = args[0].constant[0] if args and args[0].constant else None
        call.callee |= callee.paths
        call.args = tuple(arg.paths for arg in args)
        call.kwargs = {name: value.paths for name, value in kwargs.items()}
        call.constant = text if isinstance(text, str) else None
        self.reads.calls.append(call)
        return call

    def passed(self, value: _Value, call: Call, which: int | str) -> None:
        """Notes that a call gets a value."""
        if value.code is not None:
            self.use(value)
        for part in value.parts or ():
            self.passed(part, call, which)
        for path in (*value.paths, *value.taints):
            self.reads.passed.setdefault(path, []).append((self.line, call, which))

    def builtin(self, name: str, callee: _Value, args: list[_Value]) -> _Value | None:
        """What a call of a builtin function, or of a container's method, gives."""
        owner = _Value((path[:-1] for path in callee.paths), callee.taints)
        first = args[0] if args else _NOTHING
        constant = args[1].constant if len(args) > 1 else None
        if name == "len" and len(args) == 1:
            length = _stepped(first, (LENGTH, None))
            return _Value((), length.paths | first.taints)
        if name in ("getattr", "hasattr") and constant and isinstance(constant[0], str):
            self.use(*args[2:])
            return _stepped(first, (ATTRIBUTE, constant[0]))
        if name == "type" and len(args) == 1:
            return _stepped(first, (ATTRIBUTE, "__class__"))
        if name == "get" and first.constant and _is_plain(first.constant[0]):
            self.use(*args[1:])
            return _Value(
                (*_stepped(owner, (ITEM, first.constant[0])).paths,),
                [path for path in callee.paths],
            )
        if name in _WHOLE_VIEWS and not args:
            self.use(owner)
            each = _stepped(owner, (EACH, None))
            if name == "items":
                return _Value(item=_Value(parts=(_NOTHING, each)))
            return _Value(item=_NOTHING if name == "keys" else each)
        if name in _SAME_ITEMS and len(args) == 1:
            self.use(first)
            return _Value((), (), first.item or _stepped(first, (EACH, None)))
        if name == "enumerate" and args:
            self.use(*args)
            each = first.item or _stepped(first, (EACH, None))
            return _Value(item=_Value(parts=(_NOTHING, each)))
        if name == "zip" and args:
            self.use(*args)
            parts = tuple(arg.item or _stepped(arg, (EACH, None)) for arg in args)
            return _Value(item=_Value(parts=parts))
        return None


def _known_call(callee: _Value) -> str | None:
    """The name of a function or method whose effect is known, "log" or "change"."""
    names = {path[-1][1] if path[-1][0] in (GLOBAL, ATTRIBUTE) else None for path in callee.paths}
    if len(names) != 1:
        return None
    name = names.pop()
    if not isinstance(name, str):
        return None
    for path in callee.paths:
        if path[-1][0] == GLOBAL:
            if name == "print":
                return "log"
            continue
        before = path[-2][1]
        if name in _LOGS and isinstance(before, str) and "log" in before.lower():
            return "log"
        if before == "warnings" and name == "warn":
            return "log"
        if name in _CHANGES:
            return "change"
        if name not in _WHOLE_VIEWS and name != "get":
            return None
    return name


def _is_reading_change(callee: _Value) -> bool:
    """Tells whether a method changes its object, and reads it too."""
    return bool(callee.paths) and all(
        len(path) > 1 and path[-1][0] == ATTRIBUTE and path[-1][1] in _READING_CHANGES
        for path in callee.paths
    )


def _is_host_call(callee: _Value) -> bool:
    """Tells whether a function is tf.py_function, tf.numpy_function, or a decorator of theirs."""
    called = [path[:-1] if path and path[-1][0] == CALLED else path for path in callee.paths]
    return bool(called) and all(
        len(path) > 1 and path[-1] in _HOST_CALLS and path[-2][0] == GLOBAL for path in called
    )


_R = _Reader
_HANDLERS: dict[str, Any] = {
    **dict.fromkeys(("LOAD_GLOBAL", "LOAD_NAME"), _R.load_global),
    **dict.fromkeys(
        (
            "LOAD_FAST",
            "LOAD_FAST_CHECK",
            "LOAD_FAST_AND_CLEAR",
            "LOAD_FAST_LOAD_FAST",
            "LOAD_FAST_BORROW",
            "LOAD_FAST_BORROW_LOAD_FAST_BORROW",
            "LOAD_DEREF",
            "LOAD_CLASSDEREF",
        ),
        _R.load_local,
    ),
    **dict.fromkeys(("LOAD_CONST", "LOAD_SMALL_INT"), _R.load_constant),
    **dict.fromkeys(("LOAD_ATTR", "LOAD_METHOD"), _R.load_attribute),
    "LOAD_CLOSURE": _R.load_closure,
    "PUSH_NULL": _R.push_null,
    **dict.fromkeys(
        (
            "RESUME",
            "PRECALL",
            "NOP",
            "CACHE",
            "EXTENDED_ARG",
            "MAKE_CELL",
            "COPY_FREE_VARS",
            "TO_BOOL",
            "NOT_TAKEN",
        ),
        _R.nothing,
    ),
    **dict.fromkeys(("POP_TOP", "POP_ITER", "END_FOR"), _R.pop_top),
    "COPY": _R.copy,
    "SWAP": _R.swap,
    **dict.fromkeys(("STORE_FAST", "STORE_DEREF", "STORE_FAST_STORE_FAST"), _R.store_local),
    "STORE_FAST_LOAD_FAST": _R.store_and_load,  # from 3.13 on
    **dict.fromkeys(("STORE_GLOBAL", "STORE_NAME"), _R.store_global),
    "STORE_ATTR": _R.store_attribute,
    "STORE_SUBSCR": _R.store_item,
    **dict.fromkeys(
        ("DELETE_SUBSCR", "DELETE_ATTR", "DELETE_GLOBAL", "DELETE_NAME", "DELETE_DEREF"),
        _R.delete,
    ),
    "BINARY_OP": _R.binary,
    **dict.fromkeys(("UNARY_NEGATIVE", "UNARY_NOT", "UNARY_INVERT", "UNARY_POSITIVE"), _R.unary),
    **dict.fromkeys(("COMPARE_OP", "IS_OP", "CONTAINS_OP"), _R.compare),
    **dict.fromkeys(
        (
            "BUILD_TUPLE",
            "BUILD_LIST",
            "BUILD_SET",
            "BUILD_MAP",
            "BUILD_STRING",
            "BUILD_SLICE",
            "BUILD_CONST_KEY_MAP",
        ),
        _R.build,
    ),
    **dict.fromkeys(
        ("LIST_EXTEND", "SET_UPDATE", "DICT_UPDATE", "DICT_MERGE", "LIST_APPEND", "SET_ADD"),
        _R.extend,
    ),
    "MAP_ADD": _R.map_add,
    "LIST_TO_TUPLE": _R.nothing,
    **dict.fromkeys(
        ("FORMAT_VALUE", "FORMAT_SIMPLE", "CONVERT_VALUE"),
        _R.format,
    ),
    "UNPACK_SEQUENCE": _R.unpack,
    "BINARY_SUBSCR": _R.item,
    "BINARY_SLICE": _R.slice,
    "GET_ITER": _R.iterate,
    "MAKE_FUNCTION": _R.make_function,
    "SET_FUNCTION_ATTRIBUTE": _R.set_function_attribute,
    "KW_NAMES": _R.note_keyword_names,
    **dict.fromkeys(("CALL", "CALL_KW"), _R.call),
    "CALL_FUNCTION_EX": _R.call_with_lists,
}


def reads_of(code: CodeType) -> Reads:
    """Finds what a code object reads."""
    reads = Reads(parameters(code))
    reader = _Reader(reads, code, _Scope(code, None), 0)
    for name in reads.arguments:
        reader.scope.names[name] = _Value([((ARGUMENT, name),)])
    reader.run()
    return reads
