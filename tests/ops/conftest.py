import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--mode", default="eager", help="how the rows of ops run: eager or graph")
