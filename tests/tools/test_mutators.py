"""The faults that ./dev mutate draws from: where each mutator applies, and where none does."""

import pytest
from devtool.commands import ROOT
from devtool.mutation.faults import Draw, Fault, faults_of, faulty_files
from devtool.mutation.mutators import MUTATORS, off_by_one
from devtool.mutation.source import Kind, Source


def changed(mutator: str, text: str, file: str = "graven/ops/a.cc") -> list[str]:
    """The sources that a mutator makes of one, without the ends of lines."""
    faults = [fault for fault in faults_of(file, text) if fault.mutator == mutator]
    return [fault.applied(text).strip() for fault in faults]


@pytest.mark.parametrize(
    ("mutator", "text", "wanted"),
    [
        ("sign", "x = a + b;", ["x = a - b;"]),
        ("sign", "x *= a / b;", ["x /= a / b;", "x *= a * b;"]),
        ("sign", "x = -a;", ["x = a;"]),
        ("sign", "const T* f(const T& a, T&&... b);", []),
        ("bound", "for (; i < n - 1;) {", ["for (; i <= n - 1;) {", "for (; i < n;) {"]),
        ("bound", "x = n + 1 * m;", []),
        ("bound", "std::vector<std::pair<int, int>> x;", []),
        ("negated condition", "if (a && f(b)) {", ["if (!(a && f(b))) {"]),
        ("negated condition", "if constexpr (kIs) {", ["if constexpr (!(kIs)) {"]),
        (
            "negated condition",
            "if (auto x = f(); !x) {",
            ["if (auto x = f(); !(!x)) {", "if (auto x = f(); x) {"],
        ),
        ("negated condition", "if (auto* x = f()) {", []),
        ("negated condition", "y = a == b;", ["y = a != b;"]),
        (
            "missed broadcast",
            "step = size == 1 ? 0 : stride;",
            ["step = size == 2 ? 0 : stride;", "step = size == 1 ? 1 : stride;"],
        ),
        ("missed broadcast", "broadcast(dim != Dim(1));", ["broadcast(dim != Dim(2));"]),
        ("missed broadcast", "from = data + i * strides[d];", ["from = data + i;"]),
        ("missed broadcast", "if (count == 1) f();", []),
        ("dropped effect", "{ a->b(c).d(e); }", ["{ ; }"]),
        ("dropped effect", "{ a[1] += f(b); }", ["{ ; }"]),
        ("dropped effect", "{ if (a) f(b); }", ["{ if (a) ; }"]),
        ("dropped effect", "{ f<T>(b); }", ["{ ; }"]),
        ("dropped effect", "{ f(\n  b); g: h(); }", ["{ ;\n g: h(); }"]),
        ("dropped effect", "{ Shape s(a); int x = 1; return f(x); }", []),
        (
            "dropped effect",
            "Op o{.infer = f, .effects = ordered_effects};",
            ["Op o{.infer = f, };"],
        ),
        ("wrong axis", "c.input(0)", ["c.input(1)"]),
        ("wrong axis", "shape[1]", ["shape[0]"]),
        ("wrong axis", "f(x, /*axis=*/0)", ["f(x, /*axis=*/1)"]),
        ("wrong axis", "d = x.rank() - 1;", ["d = x.rank();"]),
        ("wrong axis", "d = count(0);", []),
        ("swapped arguments", "f(g(a, b), c);", ["f(c, g(a, b));", "f(g(b, a), c);"]),
        ("swapped arguments", "void f(const A& a, B* b);", []),
        ("swapped arguments", "f(std::map<A, B>(), c);", ["f(c, std::map<A, B>());"]),
        ("swapped arguments", "if (a, b) f(a, a);", []),
        ("swapped arguments", 'f("a", b); f(0, b); f([&] { g(); }, b);', []),
        ("swapped arguments", "std::max(a, b); LogicalOr(a, b); hash_combine(a, b);", []),
        ("and for or", "a && b || c", ["a || b || c", "a && b && c"]),
        (
            "constant off by one",
            "int x[] = {1, 2, 0x0f};",
            ["int x[] = {2, 2, 0x0f};", "int x[] = {1, 3, 0x0f};", "int x[] = {1, 2, 0x10};"],
        ),
        ("constant off by one", "constexpr int kSize = 64;", ["constexpr int kSize = 65;"]),
        ("constant off by one", "x = {1, 2};", []),
        (
            "dropped field",
            '{.name = "A", .commutative = true, .view_of = 0}',
            ['{.name = "A",  .view_of = 0}', '{.name = "A", .commutative = true, }'],
        ),
        ("dropped field", "x.commutative = true;", []),
    ],
)
def test_a_mutator_changes_what_it_is_about(mutator: str, text: str, wanted: list[str]) -> None:
    assert changed(mutator, text) == wanted


@pytest.mark.parametrize(
    ("mutator", "text", "wanted"),
    [
        ("sign", "x = a // b\n", ["x = a * b"]),
        ("sign", "def f(a, *, b, /): g(*a)\n", []),
        (
            "negated condition",
            "if a is not b:\n    f()\n",
            ["if not (a is not b):\n    f()", "if a is b:\n    f()"],
        ),
        ("negated condition", "x = not a\n", ["x = a"]),
        ("dropped effect", "if a:\n    b.c(d)\n", ["if a:\n    pass"]),
        ("dropped effect", "a.b = [\n  c\n]\n", ["pass"]),
        ("dropped effect", "import a\nfrom b import (c)\nreturn f(c)\n", []),
        ("wrong axis", "f(x, axis=0)\n", ["f(x, axis=1)"]),
        ("swapped arguments", "f(a, b) + g(a, b=c)\n", ["f(b, a) + g(a, b=c)"]),
        ("swapped arguments", "def f(a, b): return a\n", []),
        ("and for or", "x = a and b\n", ["x = a or b"]),
    ],
)
def test_a_mutator_knows_python(mutator: str, text: str, wanted: list[str]) -> None:
    assert changed(mutator, text, "python/graven/_a.py") == wanted


def test_rows_grow_stale_in_the_rooms_that_keep_them() -> None:
    text = "{ words_.push_back(key); table_.clear(); return a == b && c == d; }"
    wanted = [
        "{ ; table_.clear(); return a == b && c == d; }",
        "{ words_.push_back(key); ; return a == b && c == d; }",
        "{ words_.push_back(key); table_.clear(); return a == b ; }",
    ]
    assert changed("stale row", text, "graven/function/x.cc") == wanted
    assert changed("stale row", text, "graven/ops/x.cc") == []


@pytest.mark.parametrize(
    "text",
    [
        "// a + b\n/* c < d */",
        'x("a + b", \'+\', R"(c && d)");',
        "#define F(a, b) \\\n  (a + b)\n#if A && B",
        "assert(a < b - 1 && f(a, b));",
        "static_assert(sizeof(T) == 1);",
    ],
)
def test_comments_texts_preprocessor_and_asserts_are_left_alone(text: str) -> None:
    assert list(faults_of("graven/ops/a.cc", text)) == []


def test_python_comments_texts_and_asserts_are_left_alone() -> None:
    text = '"""a + b"""\n# c < d\nassert a < b - 1, f(a, b)\nf"{a + b}"\n'
    assert list(faults_of("python/graven/_a.py", text)) == []


def test_what_follows_an_assert_is_mutated() -> None:
    assert changed("sign", "assert(f(a) + 1); x = a + b;") == ["assert(f(a) + 1); x = a - b;"]


def test_tokens_keep_their_places() -> None:
    text = 'int64_t x = 1\'000 * .5e-3f;  // y\nauto s = R"x(a)")x";'
    source = Source("graven/ops/a.cc", text)
    assert all(text[token.start : token.end] == token.text for token in source.tokens)
    numbers = [token.text for token in source.tokens if token.kind is Kind.NUMBER]
    assert numbers == ["1'000", ".5e-3f"]
    assert source.tokens[-2].text == 'R"x(a)")x"'


@pytest.mark.parametrize(
    ("number", "changed_to"),
    [
        ("7", "8"),
        ("0xffu", "0x100u"),
        ("1'000", "1001"),
        ("0.5f", "0.6f"),
        ("1.25e-3", "1.26e-3"),
        ("0.0999", "0.0998"),
        ("0x1.5555p-3", "0x1.5655p-3"),
    ],
)
def test_a_number_is_off_by_one_in_a_digit_that_counts(number: str, changed_to: str) -> None:
    assert off_by_one(number) == changed_to


def test_a_fault_shows_the_lines_that_it_changes_and_keeps_their_number() -> None:
    text = "a;\n{ f(\n    b);\n}\n"
    (fault,) = [f for f in faults_of("graven/ops/a.cc", text) if f.mutator == "dropped effect"]
    assert fault.line(text) == 2 and fault.applied(text).count("\n") == text.count("\n")
    assert fault.before_and_after(text) == ("{ f(\n    b);", "{ ;\n")


def faults(mutator: str, kinds: dict[str, int]) -> list[Fault]:
    return [
        Fault("graven/ops/a.cc", place, place + 1, "x", mutator, kind)
        for kind, count in kinds.items()
        for place in range(count)
    ]


def test_a_seed_fixes_the_draw_whatever_the_order_of_places() -> None:
    places = [*faults("sign", {"+": 9, "-": 3}), *faults("bound", {"<": 5})]
    assert list(Draw(places, 1)) == list(Draw(reversed(places), 1))
    assert list(Draw(places, 1)) != list(Draw(places, 2))
    assert sorted(Draw(places, 1)) == sorted(places)


def test_frequent_mutators_do_not_drown_rare_ones() -> None:
    places = [*faults("sign", {"+": 900, "-": 300}), *faults("stale row", {"a": 300})]
    draw = Draw(places, 3)
    drawn = [next(draw) for _ in range(300)]
    rare = sum(fault.mutator == "stale row" for fault in drawn)
    signs = [fault.kind for fault in drawn if fault.mutator == "sign"]
    assert 120 < rare < 180
    assert 0.35 < signs.count("-") / len(signs) < 0.65


def test_each_mutator_finds_places_in_this_repository() -> None:
    folders = ["graven/function", "graven/ops", "python/graven/_tape.py"]
    files = faulty_files([str(ROOT / folder) for folder in folders])
    assert not any("test" in file for file in files) and "python/graven/_tape.py" in files
    found = {
        fault.mutator for file in files for fault in faults_of(file, (ROOT / file).read_text())
    }
    assert found == set(MUTATORS)
