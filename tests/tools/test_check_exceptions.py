"""The check of exceptions reads code, not comments or text."""

import pytest
from check_exceptions import check_file


@pytest.mark.parametrize(
    "line",
    ["throw Error();", "  try {", "} catch (...) {", 'f("it\'s"); throw 1;', "/* a */ throw;"],
)
def test_an_exception_in_the_engine_is_found(line: str) -> None:
    (found,) = check_file("graven/runtime/a.cc", f"int x;\n\n{line}\n")
    assert found.startswith("graven/runtime/a.cc:3: only api and python may use exceptions")


@pytest.mark.parametrize(
    "text",
    [
        "// throw\n",
        "/* try\n catch */\n",
        'const char* text = "a \\" throw";\n',
        'auto text = R"(throw " try)";\n',
        "int retry = 0; entry.catch_all();\n",
        "char quote = '\"'; // throw\n",
    ],
)
def test_comments_text_and_longer_names_are_no_exceptions(text: str) -> None:
    assert list(check_file("graven/runtime/a.cc", text)) == []


def test_the_front_ends_may_throw() -> None:
    assert list(check_file("graven/api/error.cc", "throw Error();")) == []
    assert list(check_file("graven/python_api.h", "throw Error();")) == []
