"""The modes that the tables of ops and functions run in: ./dev test MODE."""

import pytest

# What each mode makes of graphs before they run.
REWRITES = {
    "roundtrip": "printed and parsed",
    "nofusion": "without the pass that fuses",
    "nopasses": "without any pass that they can do without",
    "data": "turned into data, as a GraphDef is, and back",
}


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--mode",
        default="eager",
        choices=["eager", "graph", *REWRITES],
        help="how the rows of ops run: eager or graph; or what is done to all graphs",
    )


def pytest_configure(config: pytest.Config) -> None:
    mode = config.getoption("--mode")
    if mode not in REWRITES:
        return
    from graven import _engine

    if mode in ("roundtrip", "data"):
        _engine.set_round_trip("text" if mode == "roundtrip" else "data")
    for name in _engine.optional_passes():
        if mode == "nopasses" or (mode == "nofusion" and name == "fuse"):
            _engine.set_pass_enabled(name, False)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Tests that do not depend on the mode run once, in the first.

    The others run once for each row, not for each dtype, and with shapes that are known.
    """
    mode = config.getoption("--mode")
    if mode == "eager":
        return
    depends = "graphs" if mode in REWRITES else "mode"
    chosen: dict[tuple[str, int], pytest.Item] = {}
    for item in items:
        if depends in getattr(item, "fixturenames", ()):
            parameters = item.callspec.params if hasattr(item, "callspec") else {}
            row = parameters["case"].sample if "case" in parameters else parameters.get("row", item)
            chosen.setdefault((item.nodeid.partition("[")[0], id(row)), item)
    items[:] = chosen.values()


@pytest.fixture(scope="session")
def mode(request: pytest.FixtureRequest) -> str:
    """How a row runs, eager or graph."""
    return str(request.config.getoption("--mode"))


@pytest.fixture(scope="session")
def graphs(request: pytest.FixtureRequest) -> str:
    """Marks a test that compares traced calls with eager ones, in each mode."""
    return REWRITES.get(request.config.getoption("--mode"), "as they are")
