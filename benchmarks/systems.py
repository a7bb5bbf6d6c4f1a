"""The systems that are compared, and how a process of each is started."""

import os
import sys
from dataclasses import dataclass, field
from pathlib import Path

from devtool import environments
from devtool.environments import Environment

from benchmarks.root import ROOT


@dataclass(frozen=True)
class System:
    """One column of the comparison.

    Attributes:
      name: How the command line and the tables call it.
      module: The Python module that is measured.
      workloads: The module of `benchmarks.workloads` whose source it runs.
      environment: Where it is installed; None is the environment of this very process.
      options: Environment variables that select the mode.
    """

    name: str
    module: str
    workloads: str
    environment: Environment | None
    options: dict[str, str] = field(default_factory=dict)

    @property
    def is_peer(self) -> bool:
        return self.environment is not None

    @property
    def python(self) -> Path:
        if self.environment is None:
            return Path(sys.executable)
        return self.environment.python

    def process_environment(self, threads: int) -> dict[str, str]:
        """The environment variables of a process that measures this system on so many threads."""
        variables = dict(os.environ)
        # Installed packages have their bytecode; a checkout's is written in the first round.
        variables.pop("PYTHONDONTWRITEBYTECODE", None)
        if self.is_peer:
            # What leads to Graven's packages must not lead a peer to packages of another version.
            variables.pop("PYTHONPATH", None)
            variables.pop("VIRTUAL_ENV", None)
        variables.update(
            BENCHMARK_MODULE=self.module,
            BENCHMARK_THREADS=str(threads),
            # Read by OpenMP, MKL and JAX's client; the others are told by calls.
            OMP_NUM_THREADS=str(threads),
            MKL_NUM_THREADS=str(threads),
            NPROC=str(threads),
            # What an earlier process compiled must not make a first call look cheap.
            TORCHINDUCTOR_FORCE_DISABLE_CACHES="1",
            TORCHINDUCTOR_COMPILE_THREADS=str(threads),
            CUDA_VISIBLE_DEVICES="",
            JAX_PLATFORMS="cpu",
            TF_CPP_MIN_LOG_LEVEL="3",
        )
        variables.update(self.options)
        return variables

    def install(self) -> None:
        if self.environment is not None:
            self.environment.ensure()


GRAVEN = System("graven", "graven", "tf_api", None)
TENSORFLOW = System("tensorflow", "tensorflow", "tf_api", environments.PEERS)
TENSORFLOW_XLA = System(
    "tensorflow_xla",
    "tensorflow",
    "tf_api",
    environments.PEERS,
    {"BENCHMARK_JIT_COMPILE": "1"},
)
JAX = System("jax", "jax", "jax_api", environments.JAX)
TORCH_EAGER = System("torch_eager", "torch", "torch_api", environments.TORCH)
TORCH_COMPILE = System(
    "torch_compile", "torch", "torch_api", environments.TORCH, {"BENCHMARK_TORCH_COMPILE": "1"}
)
SYSTEMS = (GRAVEN, TENSORFLOW, TENSORFLOW_XLA, JAX, TORCH_EAGER, TORCH_COMPILE)
PEERS = tuple(system for system in SYSTEMS if system.is_peer)


def cached_call_executable(preset: str) -> Path:
    """The C++ program that times a cached call, where the build of that preset leaves it."""
    return ROOT / "build" / preset / "benchmarks" / "cached_call"
