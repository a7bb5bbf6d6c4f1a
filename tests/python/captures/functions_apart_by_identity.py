"""Bodies that find out which of equal functions they got: each function has a trace of its own."""

from __future__ import annotations

# What a body does to find out which function it got; `st` is a stored one of the same code.
_KNOWS: dict[str, tuple[str, str]] = {
    "is": ("", "g is st"),
    "==": ("", "g == st"),
    "id": ("", "id(g) == id(st)"),
    "hash": ("", "hash(g) == hash(st)"),
    "a key": ("d = {st: 1}", "g in d"),
    "a list": ("d = [0, st]", "g in d"),
    "a big list": ("d = [0] * 200 + [st]", "g in d"),
    "a dict's get": ("d = {st: 1}", "d.get(g) == 1"),
    "an equal list": ("d = [st]", "[g] == d"),
    "an equal dict": ("d = {'a': st}", "{'a': g} == d"),
    "an attribute": ("h = Box(cb=st)", "h.cb is g"),
    "an attribute by vars": ("h = Box(cb=st)", "vars(h)['cb'] is g"),
    "repr": ("r = repr(st)", "repr(g) == r"),
    "a format": ("r = repr(st)", "f'{g}' == r"),
    "percent": ("r = repr(st)", "'%s' % g == r"),
    "a registry": (
        "class R:\n    fs = [st]\n    def has(self, f): return f in self.fs\nr = R()",
        "r.has(g)",
    ),
    "an object that compares": (
        "class E:\n    def __eq__(self, other): return other is st\ne = E()",
        "e == g",
    ),
    "__contains__": (
        "class E:\n    def __contains__(self, other): return other is st\ne = E()",
        "g in e",
    ),
    "__call__": (
        "class E:\n    def __call__(self, other): return other is st\ne = E()",
        "e(g)",
    ),
    "a helper": ("def h(f): return f is st", "h(g)"),
    "a helper's default": ("def h(f=st): return f", "h() is g"),
    "a helper that captures": ("h = (lambda st: lambda f: f is st)(st)", "h(g)"),
    "a helper that stores": (
        "last = []\ndef h(f):\n    last.append(f)\n    return last[-1] is st",
        "h(g)",
    ),
    "a local function": ("", "(lambda f: f is st)(g)"),
    "filter": ("", "len(list(filter(lambda f: f is st, [g]))) == 1"),
    "any": ("", "any(f is g for f in [st])"),
    "weakref": ("import weakref\nw = weakref.ref(st)", "w() is g"),
    "WeakSet": ("import weakref\nw = weakref.WeakSet([st])", "g in w"),
    "__closure__": ("", "g.__closure__ is st.__closure__"),
    "a cell": ("", "g.__closure__[0] is st.__closure__[0]"),
    "__defaults__": ("st.__defaults__ = (1.0,)", "g.__defaults__ is not None"),
    "__name__": ("st.__name__ = 'other'", "g.__name__ == 'other'"),
    "__doc__": ("st.__doc__ = 'other'", "g.__doc__ == 'other'"),
    "an attribute of its own": ("st.tag = 1", "hasattr(g, 'tag')"),
    "getattr": ("st.tag = 1", "getattr(g, 'tag', 0) == 1"),
    "__dict__": ("st.tag = 1", "len(vars(g)) == 1"),
    "__eq__": ("", "g.__eq__(st) is True"),
    "isinstance": (
        "class M(type):\n    def __instancecheck__(cls, f): return f is st\n"
        "class C(metaclass=M): pass",
        "isinstance(g, C)",
    ),
    "a dataclass": (
        "import dataclasses\n@dataclasses.dataclass(frozen=True)\n"
        "class D:\n    f: object\nd = D(st)",
        "D(g) == d",
    ),
    "a partial": ("", "functools.partial(g).func is st"),
    "max by a key": ("", "max([g], key=lambda f: f is st) is st"),
    "an exception": (
        "def h(f):\n    try:\n        if f is st: raise ValueError\n    except ValueError:\n"
        "        return True\n    return False",
        "h(g)",
    ),
    "a default of a local function": ("", "(lambda f=g: f is st)()"),
    "a conditional expression": ("", "(g if g is st else None) is not None"),
    "a global statement": (
        "def h(f):\n    global seen\n    seen = f\n    return seen is st",
        "h(g)",
    ),
    "a match": (
        "class E: st = st\ndef h(f):\n    match f:\n        case E.st: return True\n"
        "    return False",
        "h(g)",
    ),
}


def programs() -> dict[str, str]:
    """The programs, by name."""
    return {
        f"a body that knows a function by {name}": (
            f"st = mk(2.0)\n{before}\ndef body(x, g): return x * 2.0 if {knows} else x * 3.0\n"
            "def steps():\n    for g in (None, st, None, st): yield (g or mk(2.0),)\n"
        )
        for name, (before, knows) in _KNOWS.items()
    }
