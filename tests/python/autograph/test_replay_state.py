"""State of Python's objects that runs of one function would advance: compared, or refused."""

from __future__ import annotations

import graven as tf
import numpy as np
import pytest
from python.autograph.test_replay import NOT_ALLOWED, sourceless


def test_a_leaf_of_numpy_is_compared() -> None:
    data = np.zeros(3)
    f = sourceless(
        "def f(x):\n    if x > 0:\n        data[0] += 1\n    data[1] += 1\n    return x\n",
        data=data,
    )
    with pytest.raises(NOT_ALLOWED, match="it changes"):
        tf.function(f)(tf.constant(1.0))


HIDDEN_STATE = {
    "an attribute of a class": ("class C: k = 0.0", "C.k += 1.0\n    k = C.k"),
    "a method that changes a global": (
        "n = 0.0\nclass C:\n    def next(self):\n        global n\n        n += 1.0\nc = C()",
        "c.next()\n    k = n",
    ),
    "a class method": (
        "class C:\n    n = 0.0\n    @classmethod\n    def next(cls):\n        cls.n += 1.0\n"
        "        return cls.n",
        "k = C.next()",
    ),
    "an attribute of a module": (
        "import types\nm = types.ModuleType('mine')\nm.k = 0.0",
        "m.k += 1.0\n    k = m.k",
    ),
    "a generator": (
        "def numbers():\n    n = 0.0\n    while True:\n        n += 1.0\n        yield n\n"
        "it = numbers()",
        "k = next(it)",
    ),
    "enumerate": ("it = enumerate('abcdefgh')", "k = float(next(it)[0])"),
    "zip": ("it = zip([1.0, 2.0, 3.0, 4.0])", "k = next(it)[0]"),
    "map": ("it = map(float, range(100))", "k = next(it)"),
    "cycle": ("import itertools\nit = itertools.cycle([1.0, 2.0])", "k = next(it)"),
    "a generator of NumPy": ("rng = np.random.default_rng(1)", "k = float(rng.random())"),
    "a generator of random": ("import random\nrng = random.Random(1)", "k = rng.random()"),
    "a context variable": (
        "import contextvars\nn = contextvars.ContextVar('n', default=0.0)",
        "n.set(n.get() + 1.0)\n    k = n.get()",
    ),
    "a thread's own": (
        "import threading\nown = threading.local()\nown.n = 0.0",
        "own.n += 1.0\n    k = own.n",
    ),
    "bytes": ("b = bytearray(1)", "b[0] += 1\n    k = float(b[0])"),
    "a large array": ("a = np.zeros(100_000)", "a[99_999] += 1\n    k = float(a[99_999])"),
    "a subclass of list": ("class L(list): n = 0.0\nl = L()", "l.n += 1.0\n    k = l.n"),
    "a partial": (
        "import functools\nn = [0.0]\ndef next_of(n):\n    n[0] += 1.0\n    return n[0]\n"
        "p = functools.partial(next_of, n)\ndel n",
        "k = p()",
    ),
}


@pytest.mark.parametrize("name", HIDDEN_STATE)
def test_state_that_each_run_advances_is_refused(name: str) -> None:
    setup, step = HIDDEN_STATE[name]
    f = sourceless(
        f"{setup}\ndef f(x):\n    {step}\n    if x > 0:\n        return x + k\n    return x - k\n",
        np=np,
    )
    with pytest.raises(NOT_ALLOWED, match=r"it changes|cannot be compared"):
        tf.function(f)(tf.constant(1.0))


def test_what_keeps_no_state_of_a_program_is_no_obstacle() -> None:
    f = sourceless(
        """
        import collections, datetime, enum, logging, re, threading
        lock, log, word = threading.Lock(), logging.getLogger("a program"), re.compile("a+")
        day, pair = datetime.date(2020, 1, 1), collections.namedtuple("pair", "a b")(1.0, 2.0)
        class Kind(enum.Enum):
            A = 1
        class C:
            scale = 2.0
            def __init__(self):
                self.lock, self.kind = lock, Kind.A
            @property
            def factor(self):
                return self.scale
        c = C()
        def f(x):
            with c.lock:
                log.debug("at %s", day)
            if x > 0:
                x = x * (c.factor if word.match("aa") else 0.0)
            if c.kind is Kind.A:
                return x + pair.b
            return x
        """
    )
    g = tf.function(f)
    assert [float(g(tf.constant(v))) for v in (-1.0, 3.0)] == [1.0, 8.0]
