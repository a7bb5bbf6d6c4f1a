"""tf.Variable: creation, reading, writing."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NoReturn

from graven import _engine, _logging
from graven import _functions as ops
from graven._indexed_slices import IndexedSlices
from graven._reference import Reference
from graven._unsupported import PublicClass, unsupported
from graven._variable_creators import create_by_creators, has_creators
from graven._variable_modes import (
    VariableAggregation,
    VariableSynchronization,
    aggregation_of,
    synchronization_of,
)
from graven._variable_places import places_in_batches, updates_of_slice


def _op(name: str) -> Any:
    return _engine.raw_op(name)


def _check_slices(sparse_delta: Any) -> None:
    if not isinstance(sparse_delta, IndexedSlices):
        raise TypeError(
            f"Argument `sparse_delta` must be a `tf.IndexedSlices`. Received: {sparse_delta}"
        )


def _same_shape_message(variable: Variable, shape: Any) -> str:
    return (
        f"Cannot assign value to variable ' {variable.name}': Shape mismatch.The variable shape "
        f"{variable.shape}, and the assigned value shape {shape} are incompatible."
    )


if TYPE_CHECKING:
    _ClassOfBase = type
else:
    _ClassOfBase = type(_engine.VariableBase)


class _VariableClass(PublicClass, _ClassOfBase):
    """Lets creators take part when tf.Variable itself is called."""

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:  # noqa: N805 (of a metaclass)
        kwargs.pop("use_resource", None)  # of TensorFlow 1: all variables are resources
        if cls is not Variable or not has_creators():
            return super().__call__(*args, **kwargs)
        return create_by_creators(super().__call__, Variable.__init__, args, kwargs)


class Variable(_engine.VariableBase, metaclass=_VariableClass):
    """A mutable tensor, which outlives calls and traces.

    Args:
      initial_value: What tf.convert_to_tensor takes, or a function without arguments that gives
        it.
      trainable: Whether tapes watch it when it is read; None means yes, unless synchronization is
        ON_READ.
      validate_shape: Accepted; later values have the initial value's shape unless shape is given.
      caching_device: Refused unless None.
      name: A name; the current scope is put in front. Several variables may share one.
      variable_def: Refused unless None.
      dtype: The dtype that Python values are converted to.
      import_scope: Refused unless None.
      constraint: A function that optimizers may apply after updates; stored only.
      synchronization: Accepted; kept for programs that ask for it.
      aggregation: Accepted; kept for programs that ask for it.
      shape: A shape that later values may have, at least as general as the initial value's.
      experimental_enable_variable_lifting: With False a Function may make a variable in each of
        its traces, and each call gives it the initial value again.

    Raises:
      ValueError: There is no initial value, it does not fit dtype or shape, or variables may not
        be created here.

    Source: tf.Variable.
    """

    _in_graph_mode = False
    # NumPy arrays on the left leave operators to variables.
    __array_priority__ = 100

    def __init__(
        self,
        initial_value: Any = None,
        trainable: bool | None = None,
        validate_shape: bool = True,
        caching_device: Any = None,
        name: str | None = None,
        variable_def: Any = None,
        dtype: Any = None,
        import_scope: Any = None,
        constraint: Callable[[Any], Any] | None = None,
        synchronization: VariableSynchronization = VariableSynchronization.AUTO,
        aggregation: VariableAggregation = VariableAggregation.NONE,
        shape: Any = None,
        experimental_enable_variable_lifting: bool = True,
    ) -> None:
        for option, value in (
            ("caching_device", caching_device),
            ("variable_def", variable_def),
            ("import_scope", import_scope),
        ):
            if value is not None:
                raise unsupported(f"tf.Variable does not take {option} in Graven")
        if initial_value is None:
            raise ValueError(
                "The `initial_value` arg to `tf.Variable` must be specified except when you are "
                "not providing a `variable_def`. You provided neither."
            )
        if constraint is not None and not callable(constraint):
            raise ValueError(f"Argument `constraint` must be None or a callable, got {constraint}.")
        self._requested_device = _engine.current_device()
        self._constraint = constraint
        self._synchronization = synchronization_of(synchronization, name)
        self._aggregation = aggregation_of(aggregation, name)
        if trainable is None:
            trainable = self._synchronization is not VariableSynchronization.ON_READ
        full_name = _engine.current_name_scope() + (name or "Variable")
        in_trace = _engine.creates_in_trace()
        if in_trace and experimental_enable_variable_lifting:
            _engine.check_creation_allowed()
            self._create_in_trace(initial_value, dtype, shape, full_name, trainable)
            return
        if in_trace and not _engine.executing_eagerly():
            value = self._initial(initial_value, dtype)
            if not callable(initial_value) and value.op.type != "Const":
                raise ValueError(
                    f"Tensor-typed variable initializers must either be wrapped in an init_scope "
                    "or callable (e.g., `tf.Variable(lambda : tf.truncated_normal([10, 40]))`) "
                    f"when building functions: {value!r} could not be lifted out of a "
                    "`tf.function`."
                )
            self._create(value, shape, full_name, trainable)
            _op("AssignVariableOp")(resource=self.handle, value=value)  # in each call again
            return
        with _engine.InitScope():
            value = self._initial(initial_value, dtype)
            self._create(value, shape, full_name, trainable)
            _engine.initialize_variable(self, value)

    @staticmethod
    def _initial(initial_value: Any, dtype: Any) -> Any:
        if callable(initial_value) and not isinstance(initial_value, Variable):
            initial_value = initial_value()
        return _engine.convert_to_tensor(initial_value, dtype)

    def _create(self, value: Any, shape: Any, name: str, trainable: bool) -> None:
        from graven._tensor_shape import TensorShape

        if shape is not None:
            declared = TensorShape(shape)
            if not declared.is_compatible_with(value.shape):
                raise ValueError(
                    f"In this `tf.Variable` creation, the initial value's shape ({value.shape}) "
                    f"is not compatible with the explicitly supplied `shape` argument "
                    f"({shape})."
                )
        else:
            declared = value.shape
        self._number = _engine.create_variable(self, value.dtype, declared, name, trainable)
        self._full_name = name

    def _create_in_trace(
        self,
        initial_value: Any,
        dtype: Any,
        shape: Any,
        name: str,
        trainable: bool,
    ) -> None:
        """Makes the variable for good, and records what it is to start from."""
        value = self._initial(initial_value, dtype)
        self._create(value, shape, name, trainable)
        if not isinstance(value, _engine.SymbolicTensor):
            _engine.initialize_variable(self, value)
            _engine.record_created(self, None)
            return
        _engine.record_created(self, value)
        # Where the value cannot be lifted out of the trace, its first run assigns it.
        _op("AssignVariableOp")(resource=self.handle, value=value)

    # --- What it is

    @property
    def name(self) -> str:
        """The name, with ":0" at the end."""
        return f"{self._full_name}:0"

    @property
    def _shared_name(self) -> str:
        return self._full_name

    @property
    def initializer(self) -> None:
        """None: a variable has its value when it is made, and no op has to be run for it."""
        return None

    @property
    def constraint(self) -> Callable[[Any], Any] | None:
        """The function that was given as constraint."""
        return self._constraint

    @property
    def synchronization(self) -> VariableSynchronization:
        """As given."""
        return self._synchronization

    @property
    def aggregation(self) -> VariableAggregation:
        """As given."""
        return self._aggregation

    @property
    def device(self) -> str:
        """The device that it was made on."""
        return _engine.device_of(self._requested_device)

    @property
    def graph(self) -> Any:
        """None: a variable belongs to no graph."""
        return None

    @property
    def op(self) -> Any:
        """The operation of its handle."""
        return self.handle.op

    def get_shape(self) -> Any:
        """Returns the shape."""
        return self.shape

    def ref(self) -> Reference:
        """Returns a hashable reference, equal for the same variable only."""
        return Reference(self)

    def is_initialized(self) -> Any:
        """Returns whether it has a value, as a bool tensor."""
        return _op("VarIsInitializedOp")(resource=self.handle)

    def __repr__(self) -> str:
        shape, dtype = self.shape, self.dtype.name
        head = f"<tf.Variable '{self._repr_name}' shape={shape} dtype={dtype}"
        if not _engine.executing_eagerly():
            return head + ">"
        # A read of one's own may fail as it likes; the one that is built in is not to be seen by
        # tapes, and fails where there is no value.
        has_own = getattr(self.read_value, "__func__", None) is not Variable.read_value
        try:
            value = self.read_value() if has_own else self._peek()
        except Exception:
            return head + ", numpy=<unavailable>>"
        return head + repr(value).partition(f"dtype={dtype}")[2]

    @property
    def _repr_name(self) -> str:
        return self.name

    # --- Reading

    def value(self) -> Any:
        """Reads it now, in program order.

        Returns:
          A tensor, which later assignments do not change.

        Raises:
          FailedPreconditionError: It has no value yet.
        """
        return self._read()

    def read_value(self) -> Any:
        """Returns the value as it is now, as `value` does."""
        return self._read()

    def numpy(self) -> Any:
        """Returns the value as a NumPy array; eagerly only."""
        if not _engine.executing_eagerly():
            raise NotImplementedError(
                "numpy() is only available when eager execution is enabled. See "
                "docs/errors/symbolic-tensor.md"
            )
        value = self._read().numpy()
        return value if isinstance(value, bytes) else value.copy()

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        import numpy

        return numpy.asarray(self.numpy(), dtype=dtype)

    def __int__(self) -> int:
        return int(self._read())

    def __float__(self) -> float:
        return float(self._read())

    def __complex__(self) -> complex:
        return complex(self._read())

    def __bool__(self) -> bool:
        return bool(self._read())

    def __index__(self) -> NoReturn:
        raise TypeError("A variable cannot be used as an index: read it first.")

    def __len__(self) -> NoReturn:
        raise TypeError("object of type 'Variable' has no len()")

    def __iter__(self) -> Iterator[Any]:
        return iter(self._read())

    def __hash__(self) -> NoReturn:
        raise TypeError(
            "Variable is unhashable. Instead, use variable.ref() as the key. See "
            "docs/errors/unhashable-tensor.md"
        )

    def __eq__(self, other: object) -> Any:
        return self._read() == self._comparable(other)

    def __ne__(self, other: object) -> Any:
        return self._read() != self._comparable(other)

    @staticmethod
    def _comparable(other: object) -> Any:
        if other is None:
            return _engine.convert_to_tensor(other)  # An error: None is no tensor.
        return other._read() if isinstance(other, Variable) else other

    def __lt__(self, other: Any) -> Any:
        return self._read() < other

    def __le__(self, other: Any) -> Any:
        return self._read() <= other

    def __gt__(self, other: Any) -> Any:
        return self._read() > other

    def __ge__(self, other: Any) -> Any:
        return self._read() >= other

    def __getitem__(self, key: Any) -> Any:
        """Returns a slice of the value, which has a method `assign` that writes it."""
        piece: Any = self._read()[key]
        piece.assign = lambda value, use_locking=False, name=None, read_value=True: (
            self._assign_slice(key, value, name, read_value)
        )
        return piece

    def gather_nd(self, indices: Any, name: str | None = None) -> Any:
        """Returns the elements or slices at full or partial indices.

        Args:
          indices: int32 or int64 of shape [..., k], k at most the variable's rank.
          name: A name for the node while a function is traced.

        Raises:
          InvalidArgumentError: An index is out of range.
        """
        _engine.note_variable(self)
        return _op("ResourceGatherNd")(
            resource=self.handle, indices=indices, dtype=self.dtype, name=name
        )

    def sparse_read(self, indices: Any, name: str | None = None) -> Any:
        """Returns rows; its gradient is an IndexedSlices.

        Args:
          indices: The numbers of the rows, int32 or int64 of any shape.
          name: A name for the node while a function is traced.

        Raises:
          InvalidArgumentError: There is no such row.
        """
        _engine.note_variable(self)
        return _op("ResourceGather")(
            resource=self.handle, indices=indices, dtype=self.dtype, name=name
        )

    # --- Writing

    def _value_to_assign(self, value: Any) -> Any:
        return _engine.convert_to_tensor(value, self.dtype)

    def _write(
        self, op: str, value: Any, name: str | None, read_value: bool, **attributes: Any
    ) -> Any:
        _engine.note_variable(self)
        value = self._value_to_assign(value)
        operation = _op(op)(resource=self.handle, value=value, name=name, **attributes)
        return _UnreadVariable(self) if read_value else operation

    def assign(
        self,
        value: Any,
        use_locking: bool = False,
        name: str | None = None,
        read_value: bool = True,
    ) -> Any:
        """Gives it another value, converted to its dtype.

        Args:
          value: What tf.convert_to_tensor takes; a tensor must have the variable's dtype.
          use_locking: Accepted; each assignment is atomic.
          name: A name for the node.
          read_value: With False the operation is returned, None eagerly.

        Returns:
          The variable, to be read when it is used.

        Raises:
          ValueError: dtype or shape do not fit.
        """
        del use_locking
        tensor = self._value_to_assign(value)
        if not self.shape.is_compatible_with(tensor.shape):
            raise ValueError(_same_shape_message(self, tensor.shape))
        return self._write("AssignVariableOp", tensor, name, read_value, validate_shape=True)

    def assign_add(
        self,
        delta: Any,
        use_locking: bool = False,
        name: str | None = None,
        read_value: bool = True,
    ) -> Any:
        """Adds a value of exactly the same shape; the arguments are as in `assign`."""
        del use_locking
        return self._write("AssignAddVariableOp", delta, name, read_value)

    def assign_sub(
        self,
        delta: Any,
        use_locking: bool = False,
        name: str | None = None,
        read_value: bool = True,
    ) -> Any:
        """Subtracts a value of exactly the same shape; the arguments are as in `assign`."""
        del use_locking
        return self._write("AssignSubVariableOp", delta, name, read_value)

    def _assign_slice(self, key: Any, value: Any, name: str | None, read_value: bool) -> Any:
        """Writes the elements that a slice reads, in one step: their places are sliced."""
        shape: Any = self.shape
        value = self._value_to_assign(value)
        if shape.rank == 0:
            value = ops.reshape(value, [])
            return self.assign(value, name=name, read_value=read_value)
        indices, updates = updates_of_slice(self._read(), shape.rank, key, value)
        _engine.note_variable(self)
        operation = _op("ResourceScatterNdUpdate")(
            ref=self.handle,
            indices=ops.stack(indices, axis=-1),
            updates=updates,
            name=name,
        )
        return _UnreadVariable(self) if read_value else operation

    def _scatter(self, op: str, slices: Any, name: str | None) -> Any:
        _check_slices(slices)
        _engine.note_variable(self)
        _op(op)(
            resource=self.handle,
            indices=slices.indices,
            updates=self._value_to_assign(slices.values),
            name=name,
        )
        return _UnreadVariable(self)

    def scatter_add(
        self, sparse_delta: IndexedSlices, use_locking: bool = False, name: str | None = None
    ) -> Any:
        """Adds rows, in order; repeated rows add up.

        Args:
          sparse_delta: A tf.IndexedSlices of the variable's dtype.
          use_locking: Accepted; each update is atomic.
          name: A name for the node while a function is traced.

        Returns:
          The variable, to be read when it is used.

        Raises:
          TypeError: sparse_delta is no tf.IndexedSlices.
          InvalidArgumentError: There is no such row, or the shapes do not fit.
        """
        return self._scatter("ResourceScatterAdd", sparse_delta, name)

    def scatter_sub(
        self, sparse_delta: IndexedSlices, use_locking: bool = False, name: str | None = None
    ) -> Any:
        """Subtracts rows, in order; the arguments are as in `scatter_add`."""
        return self._scatter("ResourceScatterSub", sparse_delta, name)

    def scatter_mul(
        self, sparse_delta: IndexedSlices, use_locking: bool = False, name: str | None = None
    ) -> Any:
        """Multiplies rows, in order; the arguments are as in `scatter_add`."""
        return self._scatter("ResourceScatterMul", sparse_delta, name)

    def scatter_div(
        self, sparse_delta: IndexedSlices, use_locking: bool = False, name: str | None = None
    ) -> Any:
        """Divides rows, in order; the arguments are as in `scatter_add`."""
        return self._scatter("ResourceScatterDiv", sparse_delta, name)

    def scatter_min(
        self, sparse_delta: IndexedSlices, use_locking: bool = False, name: str | None = None
    ) -> Any:
        """Takes the smaller of each element and its update.

        The arguments are as in `scatter_add`.
        """
        return self._scatter("ResourceScatterMin", sparse_delta, name)

    def scatter_max(
        self, sparse_delta: IndexedSlices, use_locking: bool = False, name: str | None = None
    ) -> Any:
        """Takes the larger of each element and its update.

        The arguments are as in `scatter_add`.
        """
        return self._scatter("ResourceScatterMax", sparse_delta, name)

    def scatter_update(
        self, sparse_delta: IndexedSlices, use_locking: bool = False, name: str | None = None
    ) -> Any:
        """Replaces rows, in order; the last of repeated ones stays.

        The arguments are as in `scatter_add`.
        """
        return self._scatter("ResourceScatterUpdate", sparse_delta, name)

    def batch_scatter_update(
        self, sparse_delta: IndexedSlices, use_locking: bool = False, name: str | None = None
    ) -> Any:
        """Replaces rows of each batch: v[b, indices[b, i]] = values[b, i].

        Args:
          sparse_delta: A tf.IndexedSlices of the variable's dtype. All dimensions of its indices
            but the last are those of the batches.
          use_locking: Accepted; each update is atomic.
          name: A name for the nodes while a function is traced.

        Returns:
          The variable, to be read when it is used.

        Raises:
          TypeError: sparse_delta is no tf.IndexedSlices.
          ValueError: The rank of its indices is not known.
          InvalidArgumentError: There is no such row, or the shapes do not fit.
        """
        _check_slices(sparse_delta)
        with _engine.NameScope(name or "batch_scatter_update"):
            places = places_in_batches(_engine.convert_to_tensor(sparse_delta.indices))
            return self._scatter_nd("ResourceScatterNdUpdate", places, sparse_delta.values, None)

    def _scatter_nd(self, op: str, indices: Any, updates: Any, name: str | None) -> Any:
        _engine.note_variable(self)
        _op(op)(ref=self.handle, indices=indices, updates=self._value_to_assign(updates), name=name)
        return _UnreadVariable(self)

    def scatter_nd_add(self, indices: Any, updates: Any, name: str | None = None) -> Any:
        """Adds updates at full or partial indices, in order.

        Args:
          indices: int32 or int64 of shape [n, k], k at most the variable's rank.
          updates: The variable's dtype, shape [n] and the dimensions behind the first k.
          name: A name for the node while a function is traced.

        Returns:
          The variable, to be read when it is used.

        Raises:
          InvalidArgumentError: An index is out of range, or the shapes do not fit.
        """
        return self._scatter_nd("ResourceScatterNdAdd", indices, updates, name)

    def scatter_nd_sub(self, indices: Any, updates: Any, name: str | None = None) -> Any:
        """Subtracts updates at indices; the arguments are as in `scatter_nd_add`."""
        return self._scatter_nd("ResourceScatterNdSub", indices, updates, name)

    def scatter_nd_update(self, indices: Any, updates: Any, name: str | None = None) -> Any:
        """Replaces what is at indices; the arguments are as in `scatter_nd_add`."""
        return self._scatter_nd("ResourceScatterNdUpdate", indices, updates, name)

    def scatter_nd_min(self, indices: Any, updates: Any, name: str | None = None) -> Any:
        """Takes the smaller of what is at indices and its update.

        The arguments are as in `scatter_nd_add`.
        """
        return self._scatter_nd("ResourceScatterNdMin", indices, updates, name)

    def scatter_nd_max(self, indices: Any, updates: Any, name: str | None = None) -> Any:
        """Takes the larger of what is at indices and its update.

        The arguments are as in `scatter_nd_add`.
        """
        return self._scatter_nd("ResourceScatterNdMax", indices, updates, name)

    # --- In-place operators would rebind the name. What TensorFlow refuses is refused; the others
    # give a tensor there without a word, which some program may want.

    def _refuse(self, instead: str) -> NoReturn:
        raise RuntimeError(
            f"In-place operators are not supported on a variable: use `{instead}` instead."
        )

    def __iadd__(self, other: Any) -> NoReturn:
        self._refuse("var.assign_add(value)")

    def __isub__(self, other: Any) -> NoReturn:
        self._refuse("var.assign_sub(value)")

    def __imul__(self, other: Any) -> NoReturn:
        self._refuse("var.assign(var * value)")

    def __itruediv__(self, other: Any) -> NoReturn:
        self._refuse("var.assign(var / value)")

    def __ipow__(self, other: Any) -> NoReturn:  # type: ignore[misc, override]
        self._refuse("var.assign(var ** value)")

    def _rebind(self, operator: str, result: Any) -> Any:
        _logging.warn_once(
            f"`var {operator}= value` binds the name to a tensor, and the variable '{self.name}' "
            f"keeps its value: use `var.assign(var {operator} value)` to change it."
        )
        return result

    def __ifloordiv__(self, other: Any) -> Any:
        return self._rebind("//", self // other)

    def __imod__(self, other: Any) -> Any:
        return self._rebind("%", self % other)

    def __imatmul__(self, other: Any) -> Any:
        return self._rebind("@", self @ other)

    def __iand__(self, other: Any) -> Any:
        return self._rebind("&", self & other)

    def __ior__(self, other: Any) -> Any:
        return self._rebind("|", self | other)

    def __ixor__(self, other: Any) -> Any:
        return self._rebind("^", self ^ other)

    # --- Copies

    def __copy__(self) -> Variable:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Variable:
        if not _engine.executing_eagerly():
            raise NotImplementedError(
                "__deepcopy__() is only available when eager execution is enabled."
            )
        copied = Variable(
            self._peek(),
            trainable=self.trainable,
            name=self._full_name,
            constraint=copy.deepcopy(self._constraint, memo),
            shape=self.shape,
            synchronization=self._synchronization,
            aggregation=self._aggregation,
        )
        memo[id(self)] = copied
        return copied

    def __reduce__(self) -> Any:
        return _unpickled, (self.numpy(), self._full_name, self.trainable, self.dtype.name)


def _unpickled(value: Any, name: str, trainable: bool, dtype: str) -> Variable:
    return Variable(value, name=name, trainable=trainable, dtype=dtype)


def _of_handle(handle: Any) -> Variable:
    """The object of a variable that was made in C++; the engine calls this."""
    made = Variable.__new__(Variable)
    made._full_name, made._number = _engine.adopt_variable(made, handle)
    made._constraint = None
    made._synchronization = VariableSynchronization.AUTO
    made._aggregation = VariableAggregation.NONE
    return made


class _UnreadVariable(Variable):
    """The result of an assignment: the same variable, read when it is used."""

    def __init__(self, variable: Variable) -> None:
        _engine.share_variable(self, variable)
        self._variable = variable
        self._full_name = variable._full_name
        self._number = variable._number
        self._constraint = variable._constraint
        self._synchronization = variable._synchronization
        self._aggregation = variable._aggregation

    @property
    def _repr_name(self) -> str:
        return "UnreadVariable"
