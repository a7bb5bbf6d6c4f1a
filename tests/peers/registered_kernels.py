"""What the installed TensorFlow can do with an op on a CPU, read from its own registries.

An op here is an OpDef's name ("AddV2"), an attribute an OpDef's attribute ("T"), and a dtype its
TensorFlow name ("float32"). A kernel is registered for sets of dtypes, one set for each attribute
that it restricts; a node has a kernel if one kernel's sets hold all of its dtypes. A kernel that
restricts nothing may still refuse a dtype when it is made (Cast does so for strings), so what is
listed here is never less than what runs, and for few ops more.
"""

from collections.abc import Mapping
from functools import cache

from tensorflow.core.framework import op_def_pb2, types_pb2
from tensorflow.python.framework import dtypes, kernels, op_def_registry, ops


@cache
def op_def(op: str) -> op_def_pb2.OpDef:
    """Returns the OpDef.

    Raises:
      KeyError: TensorFlow has no op of this name.
    """
    definition = op_def_registry.get(op)
    if definition is None:
        raise KeyError(f"TensorFlow has no op named {op!r}")
    return definition


def dtype_attributes(op: str) -> tuple[str, ...]:
    """Returns the names of the attributes that are a dtype or a list of dtypes."""
    return tuple(a.name for a in op_def(op).attr if a.type in ("type", "list(type)"))


def allowed_dtypes(op: str, attribute: str = "T") -> frozenset[str]:
    """Returns the dtypes that the OpDef allows for an attribute, whether or not a kernel exists.

    Raises:
      KeyError: There is no such op, or it has no such attribute that is a dtype.
    """
    if attribute not in dtype_attributes(op):
        raise KeyError(f"op {op!r} has dtype attributes {dtype_attributes(op)}, not {attribute!r}")
    (definition,) = (a for a in op_def(op).attr if a.name == attribute)
    numbers = definition.allowed_values.list.type or [
        number
        for number in types_pb2.DataType.values()
        if 0 < number < 100  # above: references
    ]
    return frozenset(dtypes.as_dtype(number).name for number in numbers)


@cache
def cpu_kernels(op: str) -> tuple[Mapping[str, frozenset[str]], ...]:
    """Returns, for each kernel that runs on a CPU, the dtypes of each dtype attribute of the op.

    Kernels that only a compiler chooses (XLA's devices, those with a label) are left out.
    """
    op_def(op)
    registered = kernels.get_registered_kernels_for_op(op).kernel
    found = []
    for kernel in registered:
        if kernel.device_type not in ("CPU", "DEFAULT") or kernel.label:
            continue
        sets = {attribute: allowed_dtypes(op, attribute) for attribute in dtype_attributes(op)}
        for constraint in kernel.constraint:
            if constraint.name in sets and constraint.allowed_values.list.type:
                numbers = constraint.allowed_values.list.type
                names = frozenset(dtypes.as_dtype(number).name for number in numbers)
                sets[constraint.name] &= names
        found.append(sets)
    return tuple(found)


def has_cpu_kernel(op: str, dtype_of: Mapping[str, str]) -> bool:
    """Whether a CPU kernel takes these dtypes; attributes that are not named may be anything."""
    for attribute in dtype_of:
        allowed_dtypes(op, attribute)  # raises if the op has no such attribute
    return any(
        all(dtype in kernel[attribute] for attribute, dtype in dtype_of.items())
        for kernel in cpu_kernels(op)
    )


def cpu_dtypes(op: str, attribute: str = "T") -> frozenset[str]:
    """Returns the dtypes of one attribute for which some CPU kernel is registered."""
    return frozenset(d for d in allowed_dtypes(op, attribute) if has_cpu_kernel(op, {attribute: d}))


def has_gradient(op: str) -> bool:
    """Whether the gradient registry holds a function for the op.

    False both for an op that is registered as not differentiable and for one that is not
    registered; is_registered_as_not_differentiable tells them apart. A few functions only ever
    return None for every input, as that of ArgMax does.
    """
    op_def(op)
    registry = ops.gradient_registry.list()
    return op in registry and ops.gradient_registry.lookup(op) is not None


def is_registered_as_not_differentiable(op: str) -> bool:
    """Whether the gradient registry says that the op passes no gradient on."""
    op_def(op)
    registry = ops.gradient_registry.list()
    return op in registry and ops.gradient_registry.lookup(op) is None
