import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--mode", default="eager", help="how the rows of ops run: eager or graph")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Tests that have no mode run once, in the first."""
    if config.getoption("--mode") != "eager":
        items[:] = [item for item in items if "mode" in getattr(item, "fixturenames", ())]


@pytest.fixture(scope="session")
def mode(request: pytest.FixtureRequest) -> str:
    return str(request.config.getoption("--mode"))
