"""The catalogue and the modules of workloads belong together."""

import ast

import pytest

from benchmarks.catalogue import CACHED_CALL_CPP, IMPORT, SCALING_WORKLOADS, WORKLOADS, choose
from benchmarks.root import ROOT
from benchmarks.systems import SYSTEMS, System


def _functions(system: System) -> set[str]:
    """The public functions of the system's module, which is not imported: it needs the system."""
    source = (ROOT / "benchmarks" / "workloads" / f"{system.workloads}.py").read_text()
    body = ast.parse(source).body
    names = {node.name for node in body if isinstance(node, ast.FunctionDef)}
    for node in body:
        if isinstance(node, ast.Assign) and ast.unparse(node.value).startswith("_eager("):
            names |= {ast.unparse(target) for target in node.targets}
    return {name for name in names if not name.startswith("_")}


@pytest.mark.parametrize("system", SYSTEMS, ids=lambda system: system.name)
def test_each_system_has_a_function_for_each_of_its_workloads(system: System) -> None:
    wanted = {
        workload.name
        for workload in WORKLOADS.values()
        if system.name not in workload.absent and workload.name not in (IMPORT, CACHED_CALL_CPP)
    }
    assert wanted <= _functions(system)


@pytest.mark.parametrize("system", SYSTEMS, ids=lambda system: system.name)
def test_no_module_has_a_workload_that_the_catalogue_lacks(system: System) -> None:
    assert _functions(system) - {"configure", "threads", "version"} <= set(WORKLOADS)


def test_absent_systems_and_targets_name_systems() -> None:
    names = {system.name for system in SYSTEMS}
    for workload in WORKLOADS.values():
        assert workload.absent <= names
        for target in workload.targets:
            assert target.against in names | {None, "best peer"}


def test_the_scaling_workloads_are_in_the_catalogue() -> None:
    assert len(choose(SCALING_WORKLOADS)) == len(SCALING_WORKLOADS)


def test_a_peer_does_not_see_the_python_path_of_graven(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", "somewhere")
    seen = {system.name: system.process_environment(2).get("PYTHONPATH") for system in SYSTEMS}
    assert seen.pop("graven") == "somewhere"
    assert set(seen.values()) == {None}
