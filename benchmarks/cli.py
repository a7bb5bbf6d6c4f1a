"""The command line: `./dev bench --help`."""

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from devtool.commands import DevError

from benchmarks import cache, op_report
from benchmarks.catalogue import (
    SCALING_TARGET,
    SCALING_WORKLOADS,
    WORKLOADS,
    Workload,
    choose,
)
from benchmarks.compare import Column, Measurement, Settings, compare
from benchmarks.machine import Neighbours, describe_machine
from benchmarks.summary import format_ratio
from benchmarks.systems import GRAVEN, PEERS, SYSTEMS, TENSORFLOW, System
from benchmarks.table import format_table, judge, medians, report

ROUNDS, ROUND_SECONDS = 5, 0.3
OPS_ROUNDS, OPS_ROUND_SECONDS = 3, 0.01

_NAMES = "\n".join(f"  {name:22}{workload.title}" for name, workload in WORKLOADS.items())
_EPILOG = f"""\
names, one or more of:
{_NAMES}
or one of:
  ops [ops, functions]  every op beside eager TensorFlow, at 16 and 1 Mi elements
  scaling               two threads against one on {", ".join(SCALING_WORKLOADS)}
  cache                 what the budget of a cache keeps of 20 types, and what it costs a hit
  install               only make the environments of the peers

Ends with status 1 if a cell failed or too many ops are slow, 2 if the arguments are wrong.
"""


def _parse(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="./dev bench",
        description="Times Graven and, with --peers, TensorFlow, JAX and PyTorch beside it.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("names", nargs="*", help="workloads; all of them if none is named")
    parser.add_argument("--peers", action="store_true", help="measure the peers too")
    parser.add_argument(
        "--systems", help=f"only these, with commas between: {','.join(s.name for s in SYSTEMS)}"
    )
    parser.add_argument("--threads", type=int, default=2, help="of every system (default 2)")
    parser.add_argument(
        "--rounds", type=int, help=f"of every cell (default {ROUNDS}; ops {OPS_ROUNDS})"
    )
    parser.add_argument(
        "--round-seconds",
        type=float,
        help=f"of a round (default {ROUND_SECONDS}; ops {OPS_ROUND_SECONDS})",
    )
    parser.add_argument("--timeout", type=float, default=600.0, help="seconds for one answer")
    parser.add_argument("--preset", default="bench", help="build of the C++ program")
    parser.add_argument("--json", type=Path, help="write all rounds to this file")
    options = parser.parse_args(arguments)
    for number in (options.threads, options.rounds, options.round_seconds, options.timeout):
        if number is not None and number <= 0:
            parser.error("threads, rounds and seconds must be above zero")
    if any(name in ("ops", "scaling", "cache", "install") for name in options.names[1:]):
        parser.error("ops, scaling, cache and install stand alone")
    return options


def _systems(options: argparse.Namespace) -> list[System]:
    """The systems that are asked for.

    Raises:
      ValueError: A name that no system has.
    """
    if options.systems is None:
        return list(SYSTEMS) if options.peers else [GRAVEN]
    names = options.systems.split(",")
    unknown = sorted(set(names) - {system.name for system in SYSTEMS})
    if unknown:
        raise ValueError(
            f"no system {', '.join(unknown)}; there are {', '.join(s.name for s in SYSTEMS)}"
        )
    return [system for system in SYSTEMS if system.name in names]


def _settings(options: argparse.Namespace, pinned: bool = True) -> Settings:
    return Settings(
        rounds=options.rounds or ROUNDS,
        round_seconds=options.round_seconds or ROUND_SECONDS,
        timeout=options.timeout,
        preset=options.preset,
        pinned=pinned,
    )


def _measure(
    workloads: Sequence[Workload], columns: Sequence[Column], settings: Settings
) -> dict[str, list[Measurement]]:
    """Measures and prints block by block."""
    results = {}
    for workload in workloads:
        results[workload.name] = compare(workload, columns, settings)
        print(report(workload, results[workload.name]), end="\n\n", flush=True)
    return results


def _print_versions(results: dict[str, list[Measurement]], threads: str) -> None:
    versions = {r.column: r.version for row in results.values() for r in row if r.version}
    rows = [[column, version, threads] for column, version in versions.items()]
    print(format_table([["versions", "", "threads"], *rows]), end="\n\n")


def _print_targets(results: dict[str, list[Measurement]]) -> None:
    rows = []
    for name, row in results.items():
        for target in WORKLOADS[name].targets:
            verdict = judge(target, GRAVEN.name, row)
            if verdict is not None:
                rows.append([name, *verdict])
    if rows:
        print("figures that Graven is to reach")
        print(format_table(rows), end="\n\n")


def _finish(results: dict[str, list[Measurement]], path: Path | None) -> int:
    """Writes the file, counts failures, and gives the exit status."""
    if path is not None:
        content = {name: [asdict(result) for result in row] for name, row in results.items()}
        path.write_text(json.dumps(content, indent=1) + "\n")
    failed = [f"{name}/{r.column}" for name, row in results.items() for r in row if r.error]
    if failed:
        print(f"{len(failed)} cells failed: {', '.join(failed)}", file=sys.stderr)
    return 1 if failed else 0


def _print_neighbours(neighbours: Neighbours) -> None:
    print(f"other programs used {neighbours.share():.0%} of the CPUs meanwhile", end="\n\n")


def _run_workloads(options: argparse.Namespace) -> int:
    systems = _systems(options)
    workloads = choose(options.names)
    for system in systems:
        system.install()
    print(f"{describe_machine()}; {options.threads} threads\n", flush=True)
    columns = [Column(system, options.threads, system.name) for system in systems]
    neighbours = Neighbours()
    results = _measure(workloads, columns, _settings(options))
    _print_neighbours(neighbours)
    _print_versions(results, str(options.threads))
    _print_targets(results)
    return _finish(results, options.json)


def _run_scaling(options: argparse.Namespace) -> int:
    """Times one thread against two, each in a process that is told by the system's own setting.

    The processes are not pinned: a system that ignores the setting must not look as if it scaled.
    """
    systems = _systems(options)
    for system in systems:
        system.install()
    print(f"{describe_machine()}\n", flush=True)
    columns = [
        Column(system, threads, f"{system.name}, {threads} thread{'s' if threads > 1 else ''}")
        for system in systems
        for threads in (1, 2)
    ]
    neighbours = Neighbours()
    results = _measure(choose(SCALING_WORKLOADS), columns, _settings(options, pinned=False))
    _print_neighbours(neighbours)
    rows = []
    for name, row in results.items():
        times = medians(row)
        for system in systems:
            one, two = f"{system.name}, 1 thread", f"{system.name}, 2 threads"
            if one in times and two in times:
                factor = times[one] / times[two]
                verdict = "met" if factor >= SCALING_TARGET else "missed"
                rows.append([name, system.name, format_ratio(factor), verdict])
    print(f"two threads against one, at least {format_ratio(SCALING_TARGET)} wanted")
    print(format_table(rows))
    return _finish(results, options.json)


def _run_ops(options: argparse.Namespace) -> int:
    system = _systems(options)[0]
    TENSORFLOW.install()
    print(f"{describe_machine()}; {options.threads} threads\n", flush=True)
    settings = Settings(
        rounds=options.rounds or OPS_ROUNDS,
        round_seconds=options.round_seconds or OPS_ROUND_SECONDS,
        timeout=options.timeout,
    )
    names = options.names[1:]
    neighbours = Neighbours()
    status = op_report.run(system, TENSORFLOW, names, options.threads, settings, options.json)
    _print_neighbours(neighbours)
    return status


def run(arguments: Sequence[str]) -> int:
    """Does what the arguments ask for and gives the exit status."""
    options = _parse(arguments)
    try:
        match options.names[:1]:
            case ["install"]:
                for system in PEERS:
                    system.install()
                return 0
            case ["cache"]:
                print(f"{describe_machine()}\n", flush=True)
                return cache.run()
            case ["ops"]:
                return _run_ops(options)
            case ["scaling"]:
                return _run_scaling(options)
            case _:
                return _run_workloads(options)
    except (DevError, ValueError) as error:
        print(f"benchmarks: {error}", file=sys.stderr)
        return 2
