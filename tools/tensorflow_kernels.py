"""Reads tensorflow_kernels.txt: with which dtypes TensorFlow runs the ops of Graven on a CPU.

    .venv-peers/bin/python tools/tensorflow_kernels.py     writes it anew, for the ops of the build

A line is an op, what the gradient registry says of it ("function", "none", "-" for no entry), and
its kernels behind " | ", each as a list of `attribute=dtype,dtype`: a kernel takes each combination
of its dtypes. Where nothing stands behind a name there is none. tests/peers holds the file against
the installed TensorFlow, so that tests without TensorFlow, and docs/compatibility.md, may read it.
"""

import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

FILE = Path(__file__).with_name("tensorflow_kernels.txt")
PEERS = Path(__file__).resolve().parents[1] / "tests" / "peers"

Kernel = Mapping[str, frozenset[str]]


@dataclass(frozen=True)
class KernelsOfOp:
    """What TensorFlow has of an op.

    Attributes:
      op: OpDef name.
      gradient: "function", "none" if it is registered as not differentiable, "-" if it is not.
      kernels: The dtypes of each dtype attribute, of each kernel.
    """

    op: str
    gradient: str
    kernels: tuple[Kernel, ...]

    def dtypes(self, attribute: str) -> frozenset[str]:
        """The dtypes of one attribute, of all kernels."""
        return frozenset().union(*(kernel[attribute] for kernel in self.kernels))

    def __str__(self) -> str:
        kernels = [
            " ".join(f"{name}={','.join(sorted(kernel[name]))}" for name in sorted(kernel))
            for kernel in self.kernels
        ]
        return " | ".join([f"{self.op} {self.gradient}", *sorted(kernels)])


def read(text: str) -> dict[str, KernelsOfOp]:
    """Reads the lines, by the names of ops."""
    found = {}
    for line in text.splitlines():
        if line.startswith("#") or not line:
            continue
        head, *rest = line.split(" | ")
        op, gradient = head.split()
        kernels = []
        for part in rest:
            pairs = [pair.partition("=") for pair in part.split()]
            kernels.append({name: frozenset(dtypes.split(",")) for name, _, dtypes in pairs})
        found[op] = KernelsOfOp(op, gradient, tuple(kernels))
    return found


def merged(kernels: Iterable[Kernel]) -> tuple[Kernel, ...]:
    """The same combinations in fewer kernels: two that differ in one attribute become one."""
    result: list[dict[str, frozenset[str]]] = []
    for kernel in kernels:
        new = dict(kernel)
        again = True
        while again:
            again = False
            for other in result:
                differing = [name for name in new if new[name] != other[name]]
                if len(differing) <= 1:
                    result.remove(other)
                    new |= {name: new[name] | other[name] for name in differing}
                    again = True
                    break
        result.append(new)
    return tuple(result)


def of_tensorflow(names: Iterable[str]) -> list[KernelsOfOp]:
    """Asks the installed TensorFlow, for those of the names that are its ops."""
    sys.path.append(str(PEERS))
    import registered_kernels as registered

    found = []
    for op in sorted(names):
        try:
            definition = registered.op_def(op)
        except KeyError:
            continue
        plain = {attribute.name for attribute in definition.attr if attribute.type == "type"}
        if registered.has_gradient(op):
            gradient = "function"
        else:
            gradient = "none" if registered.is_registered_as_not_differentiable(op) else "-"
        kernels = [
            {name: dtypes for name, dtypes in kernel.items() if name in plain}
            for kernel in registered.cpu_kernels(op)
            if all(kernel[name] for name in plain)  # Some are registered for no dtype of the OpDef.
        ]
        found.append(KernelsOfOp(op, gradient, merged(kernels) if plain else ()))
    return found


def main() -> int:
    """Writes the file."""
    import tensorflow
    from graven import _engine

    head = (
        f"# Printed by tensorflow_kernels.py with TensorFlow {tensorflow.__version__}: op, gradient"
    )
    lines = [head, *map(str, of_tensorflow(_engine.op_names()))]
    FILE.write_text("\n".join(lines) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
