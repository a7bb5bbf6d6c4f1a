"""Values of Python's that a trace read: each kind of change is noticed, and costs one trace.

`CASES` holds a program for each way by which a value can be read. Its source is executed in a
module of its own: it defines `f`, and `change()`, after which `f(ONE)` must give another result;
`back()`, where there is one, undoes the change.
"""

from __future__ import annotations

import importlib.util
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import graven as tf
import pytest
from graven import _engine

HEADER = """
import os
import graven as tf
class Box:
    def __init__(self, **values):
        self.__dict__.update(values)
class Slots:
    __slots__ = ("k",)
    def __init__(self, k): self.k = k
ONE = tf.constant(1.0)
FUNCTION = tf.function(stale="retrace")
"""

# name: the program. It starts with k = 2 where f(1.0) is 2.0, and changes to 5 where it is 5.0.
CASES = {
    "global": """
        k = 2.0
        @FUNCTION
        def f(x): return x * k
        def change():
            global k; k = 5.0
        def back():
            global k; k = 2.0
        """,
    "global in a helper": """
        k = 2.0
        def helper(x): return x * k
        @FUNCTION
        def f(x): return helper(x)
        def change():
            global k; k = 5.0
        """,
    "global in a helper of a helper": """
        k = 2.0
        def inner(x): return x * k
        def helper(x): return inner(x)
        @FUNCTION
        def f(x): return helper(x)
        def change():
            global k; k = 5.0
        """,
    "global in a lambda": """
        k = 2.0
        helper = lambda x: x * k
        @FUNCTION
        def f(x): return helper(x)
        def change():
            global k; k = 5.0
        """,
    "closure cell": """
        def make():
            k = 2.0
            @FUNCTION
            def f(x): return x * k
            def change():
                nonlocal k; k = 5.0
            return f, change
        f, change = make()
        """,
    "closure cell in a helper": """
        def make():
            k = 2.0
            def helper(x): return x * k
            @FUNCTION
            def f(x): return helper(x)
            def change():
                nonlocal k; k = 5.0
            return f, change
        f, change = make()
        """,
    "attribute of self": """
        class M:
            def __init__(self): self.k = 2.0
            @FUNCTION
            def f(self, x): return x * self.k
        m = M(); f = m.f
        def change(): m.k = 5.0
        def back(): m.k = 2.0
        """,
    "attribute of self in a method": """
        class M:
            def __init__(self): self.k = 2.0
            def helper(self, x): return x * self.k
            @FUNCTION
            def f(self, x): return self.helper(x)
        m = M(); f = m.f
        def change(): m.k = 5.0
        """,
    "attribute of a tf.Module": """
        class M(tf.Module):
            def __init__(self): super().__init__(); self.k = 2.0
            @FUNCTION
            def f(self, x): return x * self.k
        m = M(); f = m.f
        def change(): m.k = 5.0
        """,
    "attribute of an argument": """
        m = Box(k=2.0)
        @FUNCTION
        def g(m, x): return x * m.k
        def f(x): return g(m, x)
        def change(): m.k = 5.0
        """,
    "attribute of an argument in a tuple": """
        m = Box(k=2.0)
        @FUNCTION
        def g(pair): return pair[0] * pair[1].k
        def f(x): return g((x, m))
        def change(): m.k = 5.0
        """,
    "attribute of a global object": """
        m = Box(k=2.0)
        @FUNCTION
        def f(x): return x * m.k
        def change(): m.k = 5.0
        def back(): m.k = 2.0
        """,
    "attribute of a nested object": """
        m = Box(inner=Box(k=2.0))
        @FUNCTION
        def f(x): return x * m.inner.k
        def change(): m.inner.k = 5.0
        """,
    "nested object replaced": """
        m = Box(inner=Box(k=2.0))
        @FUNCTION
        def f(x): return x * m.inner.k
        def change(): m.inner = Box(k=5.0)
        """,
    "global object replaced": """
        m = Box(k=2.0)
        @FUNCTION
        def f(x): return x * m.k
        def change():
            global m; m = Box(k=5.0)
        """,
    "attribute by way of a local name": """
        m = Box(inner=Box(k=2.0))
        @FUNCTION
        def f(x):
            inner = m.inner
            return x * inner.k
        def change(): m.inner.k = 5.0
        """,
    "attribute of a class": """
        class C: k = 2.0
        @FUNCTION
        def f(x): return x * C.k
        def change(): C.k = 5.0
        """,
    "class attribute by way of an instance": """
        class C: k = 2.0
        c = C()
        @FUNCTION
        def f(x): return x * c.k
        def change(): C.k = 5.0
        """,
    "instance attribute that hides the class's": """
        class C: k = 2.0
        c = C()
        @FUNCTION
        def f(x): return x * c.k
        def change(): c.k = 5.0
        """,
    "attribute of a base class": """
        class B: k = 2.0
        class C(B): pass
        c = C()
        @FUNCTION
        def f(x): return x * c.k
        def change(): B.k = 5.0
        """,
    "attribute of the class of self": """
        class C:
            k = 2.0
            @FUNCTION
            def f(self, x): return x * type(self).k if x.shape == [] else x * self.__class__.k
        c = C(); f = c.f
        def change(): C.k = 5.0
        """,
    "attribute of a module": """
        import types
        m = types.ModuleType("of_users"); m.k = 2.0
        @FUNCTION
        def f(x): return x * m.k
        def change(): m.k = 5.0
        """,
    "slot": """
        m = Slots(2.0)
        @FUNCTION
        def f(x): return x * m.k
        def change(): m.k = 5.0
        """,
    "property": """
        class C:
            def __init__(self): self._k = 2.0
            @property
            def k(self): return self._k
        c = C()
        @FUNCTION
        def f(x): return x * c.k
        def change(): c._k = 5.0
        """,
    "__getattr__": """
        class C:
            def __init__(self): self.values = {"k": 2.0}
            def __getattr__(self, name): return self.values[name]
        c = C()
        @FUNCTION
        def f(x): return x * c.k
        def change(): c.values["k"] = 5.0
        """,
    "__getitem__": """
        class C:
            def __init__(self): self.values = {"k": 2.0}
            def __getitem__(self, name): return self.values[name]
        c = C()
        @FUNCTION
        def f(x): return x * c["k"]
        def change(): c.values["k"] = 5.0
        """,
    "getattr with a name": """
        m = Box(k=2.0)
        @FUNCTION
        def f(x): return x * getattr(m, "k")
        def change(): m.k = 5.0
        """,
    "getattr with a default": """
        m = Box()
        @FUNCTION
        def f(x): return x * getattr(m, "k", 2.0)
        def change(): m.k = 5.0
        """,
    "hasattr": """
        m = Box()
        @FUNCTION
        def f(x): return x * (5.0 if hasattr(m, "k") else 2.0)
        def change(): m.k = 1
        """,
    "attribute of the object that a function returns": """
        m = Box(k=2.0)
        def config(): return m
        @FUNCTION
        def f(x): return x * config().k
        def change(): m.k = 5.0
        """,
    "function replaced": """
        def helper(x): return x * 2.0
        @FUNCTION
        def f(x): return helper(x)
        def change():
            global helper
            def helper(x): return x * 5.0
        """,
    "method of a class replaced": """
        class C:
            def helper(self, x): return x * 2.0
        c = C()
        @FUNCTION
        def f(x): return c.helper(x)
        def change(): C.helper = lambda self, x: x * 5.0
        """,
    "function in an attribute": """
        m = Box(g=lambda x: x * 2.0)
        @FUNCTION
        def f(x): return m.g(x)
        def change(): m.g = lambda x: x * 5.0
        """,
    "callable object's attribute": """
        class C:
            def __init__(self): self.k = 2.0
            def __call__(self, x): return x * self.k
        c = C()
        @FUNCTION
        def f(x): return c(x)
        def change(): c.k = 5.0
        """,
    "variable replaced": """
        v = tf.Variable(2.0)
        @FUNCTION
        def f(x): return x * v
        def change():
            global v; v = tf.Variable(5.0)
        """,
    "tensor replaced": """
        t = tf.constant(2.0)
        @FUNCTION
        def f(x): return x * t
        def change():
            global t; t = tf.constant(5.0)
        """,
    "variable of self replaced": """
        class M(tf.Module):
            def __init__(self): super().__init__(); self.v = tf.Variable(2.0)
            @FUNCTION
            def f(self, x): return x * self.v
        m = M(); f = m.f
        def change(): m.v = tf.Variable(5.0)
        """,
    "enum member": """
        import enum
        class Mode(enum.Enum):
            A = 2.0
            B = 5.0
        mode = Mode.A
        @FUNCTION
        def f(x): return x * mode.value
        def change():
            global mode; mode = Mode.B
        """,
    "enum member in a condition": """
        import enum
        class Mode(enum.Enum):
            A = 1
            B = 2
        mode = Mode.A
        @FUNCTION
        def f(x): return x * 2.0 if mode is Mode.A else x * 5.0
        def change():
            global mode; mode = Mode.B
        """,
    "dtype": """
        dtype = tf.int32
        @FUNCTION
        def f(x): return tf.cast(tf.cast(x * 5.5, dtype), tf.float32) if dtype is tf.int32 \
            else tf.cast(x * 2.0, dtype)
        def change():
            global dtype; dtype = tf.float32
        EXPECTED = 5.0, 2.0
        """,
    "bool": """
        flag = False
        @FUNCTION
        def f(x):
            if flag: return x * 5.0
            return x * 2.0
        def change():
            global flag; flag = True
        def back():
            global flag; flag = False
        """,
    "None": """
        k = None
        @FUNCTION
        def f(x): return x * 2.0 if k is None else x * k
        def change():
            global k; k = 5.0
        """,
    "text": """
        mode = "two"
        @FUNCTION
        def f(x): return x * (2.0 if mode == "two" else 5.0)
        def change():
            global mode; mode = "five"
        """,
    "1 and True": """
        k = 1
        @FUNCTION
        def f(x): return x * (5.0 if isinstance(k, bool) else 2.0)
        def change():
            global k; k = True
        """,
    "0.0 and -0.0": """
        import math
        k = 0.0
        @FUNCTION
        def f(x): return x * (3.5 - 1.5 * math.copysign(1.0, k))
        def change():
            global k; k = -0.0
        """,
    "item of a list": """
        ks = [1.0, 2.0]
        @FUNCTION
        def f(x): return x * ks[1]
        def change(): ks[1] = 5.0
        def back(): ks[1] = 2.0
        """,
    "last item of a list": """
        ks = [1.0, 2.0]
        @FUNCTION
        def f(x): return x * ks[-1]
        def change(): ks.append(5.0)
        """,
    "item of a list by a number that is computed": """
        ks = [1.0, 2.0]
        @FUNCTION
        def f(x):
            i = 0
            i += 1
            return x * ks[i]
        def change(): ks[1] = 5.0
        """,
    "list that is iterated over": """
        ks = [1.0, 2.0]
        @FUNCTION
        def f(x):
            for k in ks: x = x * k
            return x
        def change(): ks[1] = 5.0
        """,
    "list that grows": """
        ks = [2.0]
        @FUNCTION
        def f(x):
            for k in ks: x = x * k
            return x
        def change(): ks.append(2.5)
        """,
    "list in a comprehension": """
        ks = [1.0, 2.0]
        @FUNCTION
        def f(x): return tf.add_n([x * k for k in ks]) - x
        def change(): ks[1] = 5.0
        """,
    "list that an op takes": """
        ks = [1.0, 1.0]
        @FUNCTION
        def f(x): return x * tf.reduce_sum(tf.constant(ks))
        def change(): ks[1] = 4.0
        """,
    "nested list that an op takes": """
        ks = [[1.0], [1.0]]
        @FUNCTION
        def f(x): return x * tf.reduce_sum(tf.constant(ks))
        def change(): ks[1][0] = 4.0
        """,
    "list of self": """
        class M:
            def __init__(self): self.ks = [1.0, 2.0]
            @FUNCTION
            def f(self, x): return x * self.ks[1]
        m = M(); f = m.f
        def change(): m.ks[1] = 5.0
        """,
    "list replaced": """
        ks = [1.0, 2.0]
        @FUNCTION
        def f(x): return x * ks[1]
        def change():
            global ks; ks = [1.0, 5.0]
        """,
    "attributes of the objects in a list": """
        boxes = [Box(k=1.0), Box(k=2.0)]
        @FUNCTION
        def f(x):
            for box in boxes: x = x * box.k
            return x
        def change(): boxes[1].k = 5.0
        """,
    "attribute of an item": """
        boxes = [Box(k=1.0), Box(k=2.0)]
        @FUNCTION
        def f(x): return x * boxes[1].k
        def change(): boxes[1].k = 5.0
        """,
    "object in a list replaced": """
        boxes = [Box(k=2.0)]
        @FUNCTION
        def f(x): return x * boxes[0].k
        def change(): boxes[0] = Box(k=5.0)
        """,
    "layers that are called": """
        class Layer:
            def __init__(self, k): self.k = k
            def __call__(self, x): return x * self.k
        layers = [Layer(1.0), Layer(2.0)]
        @FUNCTION
        def f(x):
            for layer in layers: x = layer(x)
            return x
        def change(): layers[1].k = 5.0
        """,
    "item of a dict": """
        config = {"k": 2.0}
        @FUNCTION
        def f(x): return x * config["k"]
        def change(): config["k"] = 5.0
        def back(): config["k"] = 2.0
        """,
    "item of a dict in a dict": """
        config = {"model": {"k": 2.0}}
        @FUNCTION
        def f(x): return x * config["model"]["k"]
        def change(): config["model"]["k"] = 5.0
        """,
    "dict.get": """
        config = {}
        @FUNCTION
        def f(x): return x * config.get("k", 2.0)
        def change(): config["k"] = 5.0
        """,
    "key of a dict": """
        config = {}
        @FUNCTION
        def f(x): return x * (5.0 if "k" in config else 2.0)
        def change(): config["k"] = 1
        """,
    "values of a dict": """
        config = {"a": 1.0, "b": 2.0}
        @FUNCTION
        def f(x):
            for name, k in config.items(): x = x * k
            return x
        def change(): config["b"] = 5.0
        """,
    "item of a tuple": """
        ks = (1.0, 2.0)
        @FUNCTION
        def f(x): return x * ks[1]
        def change():
            global ks; ks = (1.0, 5.0)
        """,
    "tuple unpacked": """
        ks = (1.0, 2.0)
        @FUNCTION
        def f(x):
            _, k = ks
            return x * k
        def change():
            global ks; ks = (1.0, 5.0)
        """,
    "list in a tuple": """
        ks = ([2.0],)
        @FUNCTION
        def f(x): return x * ks[0][0]
        def change(): ks[0][0] = 5.0
        """,
    "named tuple": """
        import typing
        class Pair(typing.NamedTuple):
            k: float
        pair = Pair(2.0)
        @FUNCTION
        def f(x): return x * pair.k
        def change():
            global pair; pair = Pair(5.0)
        """,
    "dataclass": """
        import dataclasses
        @dataclasses.dataclass
        class Config:
            k: float = 2.0
        config = Config()
        @FUNCTION
        def f(x): return x * config.k
        def change(): config.k = 5.0
        """,
    "set": """
        names = {"a"}
        @FUNCTION
        def f(x): return x * (5.0 if "b" in names else 2.0)
        def change(): names.add("b")
        """,
    "length": """
        ks = [0, 0]
        @FUNCTION
        def f(x): return x * float(len(ks))
        def change(): ks.extend([0, 0, 0])
        """,
    "environment": """
        os.environ["GRAVEN_TEST_K"] = "2"
        @FUNCTION
        def f(x): return x * float(os.environ["GRAVEN_TEST_K"])
        def change(): os.environ["GRAVEN_TEST_K"] = "5"
        """,
    "environment by get": """
        os.environ.pop("GRAVEN_TEST_L", None)
        @FUNCTION
        def f(x): return x * float(os.environ.get("GRAVEN_TEST_L", "2"))
        def change(): os.environ["GRAVEN_TEST_L"] = "5"
        """,
    "environment by getenv": """
        os.environ.pop("GRAVEN_TEST_M", None)
        @FUNCTION
        def f(x): return x * float(os.getenv("GRAVEN_TEST_M", "2"))
        def change(): os.environ["GRAVEN_TEST_M"] = "5"
        """,
    "default arguments of a helper": """
        def helper(x, k=2.0): return x * k
        @FUNCTION
        def f(x): return helper(x)
        def change(): helper.__defaults__ = (5.0,)
        """,
    "object that is a default argument": """
        def helper(x, box=Box(k=2.0)): return x * box.k
        @FUNCTION
        def f(x): return helper(x)
        def change(): helper.__defaults__[0].k = 5.0
        """,
    "object that is a default argument of the function": """
        box = Box(k=2.0)
        @FUNCTION
        def f(x, box=box): return x * box.k
        def change(): box.k = 5.0
        """,
    "within a nested Function": """
        k = 2.0
        @FUNCTION
        def inner(x): return x * k
        @FUNCTION
        def f(x): return inner(x)
        def change():
            global k; k = 5.0
        def back():
            global k; k = 2.0
        """,
    "within a nested Function that was traced before": """
        k = 2.0
        @FUNCTION
        def inner(x): return x * k
        inner(ONE)
        @FUNCTION
        def f(x): return inner(x)
        def change():
            global k; k = 5.0
        """,
    "within a branch": """
        k = 2.0
        @FUNCTION
        def f(x):
            if x > 0.0: return x * k
            return x
        def change():
            global k; k = 5.0
        """,
    "within a branch of tf.cond": """
        k = 2.0
        @FUNCTION
        def f(x): return tf.cond(x > 0.0, lambda: x * k, lambda: x)
        def change():
            global k; k = 5.0
        """,
    "within the body of a loop": """
        k = 2.0
        @FUNCTION
        def f(x):
            for i in tf.range(1): x = x * k
            return x
        def change():
            global k; k = 5.0
        """,
    "within a body of tf.while_loop": """
        m = Box(k=2.0)
        @FUNCTION
        def f(x):
            return tf.while_loop(lambda i, x: i < 1, lambda i, x: (i + 1, x * m.k), [0, x])[1]
        def change(): m.k = 5.0
        """,
    "within tf.map_fn": """
        k = 2.0
        @FUNCTION
        def f(x): return tf.map_fn(lambda e: e * k, x[None])[0]
        def change():
            global k; k = 5.0
        """,
    "within the function of a custom gradient": """
        k = 2.0
        @tf.custom_gradient
        def g(x): return x * k, lambda dy: dy
        @FUNCTION
        def f(x): return g(x)
        def change():
            global k; k = 5.0
        """,
    "within a custom gradient": """
        k = 2.0
        @tf.custom_gradient
        def g(x):
            def gradient(dy): return dy * k
            return x * 1.0, gradient
        @FUNCTION
        def h(x): return g(x)
        def f(x):
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = h(x)
            return tape.gradient(y, x)
        def change():
            global k; k = 5.0
        """,
    "without AutoGraph": """
        k = 2.0
        def helper(x): return x * k
        @tf.function(stale="retrace", autograph=False)
        def f(x): return helper(x)
        def change():
            global k; k = 5.0
        """,
    "of self without AutoGraph": """
        class M:
            def __init__(self): self.k = 2.0
            def helper(self, x): return x * self.k
            @tf.function(stale="retrace", autograph=False)
            def f(self, x): return self.helper(x)
        m = M(); f = m.f
        def change(): m.k = 5.0
        """,
    "by capture by re-execution": """
        k = 2.0
        @tf.function(stale="retrace", autograph="replay")
        def f(x):
            if x > 0.0: return x * k
            return x
        def change():
            global k; k = 5.0
        """,
    "in a constructor": """
        k = 2.0
        class C:
            def __init__(self): self.value = k
        @FUNCTION
        def f(x): return x * C().value
        def change():
            global k; k = 5.0
        """,
    "global that was not there": """
        @FUNCTION
        def f(x):
            try: return x * k
            except NameError: return x * 2.0
        def change():
            global k; k = 5.0
        """,
    "object through a partial": """
        import functools
        m = Box(k=2.0)
        def g(m, x): return x * m.k
        f = tf.function(functools.partial(g, m), stale="retrace")
        def change(): m.k = 5.0
        """,
    "in a decorated helper": """
        import functools
        k = 2.0
        def decorator(g):
            @functools.wraps(g)
            def wrapped(*args): return g(*args)
            return wrapped
        @decorator
        def helper(x): return x * k
        @FUNCTION
        def f(x): return helper(x)
        def change():
            global k; k = 5.0
        """,
    "attribute that goes": """
        m = Box(k=2.0)
        @FUNCTION
        def f(x): return x * getattr(m, "k", 5.0)
        def change(): del m.k
        """,
    "class of an object replaced": """
        class B: k = 2.0
        class C: k = 5.0
        m = B()
        @FUNCTION
        def f(x): return x * m.k
        def change(): m.__class__ = C
        """,
    "dict of an object replaced": """
        m = Box(k=2.0)
        @FUNCTION
        def f(x): return x * m.k
        def change(): m.__dict__ = {"k": 5.0}
        """,
    "dict of the standard library": """
        import collections
        config = collections.UserDict(k=2.0)
        @FUNCTION
        def f(x): return x * config["k"]
        def change(): config["k"] = 5.0
        """,
    "deque": """
        import collections
        ks = collections.deque([2.0])
        @FUNCTION
        def f(x):
            for k in ks: x = x * k
            return x
        def change(): ks[0] = 5.0
        """,
    "property of a metaclass": """
        class Meta(type):
            @property
            def k(cls): return cls._k
        class C(metaclass=Meta): _k = 2.0
        @FUNCTION
        def f(x): return x * C.k
        def change(): C._k = 5.0
        """,
    "descriptor": """
        class Descriptor:
            def __get__(self, instance, owner): return instance.value
        class C:
            k = Descriptor()
            def __init__(self): self.value = 2.0
        c = C()
        @FUNCTION
        def f(x): return x * c.k
        def change(): c.value = 5.0
        """,
    "operator of an object": """
        class C:
            def __init__(self): self.value = 2.0
            def __add__(self, other): return self.value + other
        c = C()
        @FUNCTION
        def f(x): return x * (c + 0.0)
        def change(): c.value = 5.0
        """,
    "context manager": """
        class C:
            def __init__(self): self.value = 2.0
            def __enter__(self): return self.value
            def __exit__(self, *error): pass
        c = C()
        @FUNCTION
        def f(x):
            with c as k: return x * k
        def change(): c.value = 5.0
        """,
    "iteration over an object": """
        class C:
            def __init__(self): self.values = [2.0]
            def __iter__(self): return iter(self.values)
        c = C()
        @FUNCTION
        def f(x):
            for k in c: x = x * k
            return x
        def change(): c.values[0] = 5.0
        """,
    "generator": """
        class C:
            def __init__(self): self.values = [2.0]
            def items(self):
                for k in self.values: yield k
        c = C()
        @FUNCTION
        def f(x):
            for k in c.items(): x = x * k
            return x
        def change(): c.values[0] = 5.0
        """,
    "truth of an object": """
        class C:
            def __init__(self): self.value = False
            def __bool__(self): return self.value
        c = C()
        @FUNCTION
        def f(x): return x * (5.0 if bool(c) else 2.0)
        def change(): c.value = True
        """,
    "getattr with the name in a global": """
        name, m = "k", Box(k=2.0)
        @FUNCTION
        def f(x): return x * getattr(m, name)
        def change(): m.k = 5.0
        """,
    "globals()": """
        k = 2.0
        @FUNCTION
        def f(x): return x * globals()["k"]
        def change():
            global k; k = 5.0
        """,
    "vars()": """
        m = Box(k=2.0)
        @FUNCTION
        def f(x): return x * vars(m)["k"]
        def change(): m.k = 5.0
        """,
    "items in a loop that counts": """
        boxes = [Box(k=1.0), Box(k=2.0)]
        @FUNCTION
        def f(x):
            i = 0
            while i < 2:
                x = x * boxes[i].k
                i += 1
            return x
        def change(): boxes[1].k = 5.0
        """,
    "objects that a loop follows": """
        m = Box(next=Box(next=Box(k=2.0)))
        @FUNCTION
        def f(x):
            o = m
            for _ in range(2): o = o.next
            return x * o.k
        def change(): m.next.next.k = 5.0
        """,
    "keyword arguments in a dict": """
        options = {"k": 2.0}
        def helper(x, k): return x * k
        @FUNCTION
        def f(x): return helper(x, **options)
        def change(): options["k"] = 5.0
        """,
}


@pytest.fixture(params=[True, False], ids=["tags", "identities"])
def _tags(request: pytest.FixtureRequest) -> Iterator[None]:
    before = _engine.has_version_tags()
    _engine.use_version_tags(request.param)
    yield
    _engine.use_version_tags(before)


_number = 0


def _run(source: str, folder: Path, stale: str = "retrace") -> Any:
    """Runs a program as a module of its own, with a file, which AutoGraph needs."""
    global _number
    _number += 1
    name = f"captures_program_{_number}"
    path = folder / f"{name}.py"
    text = HEADER + textwrap.dedent(source)
    path.write_text(text.replace('stale="retrace"', f'stale="{stale}"'))
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def _traces() -> int:
    return sum(row.traces for row in tf.config.trace_cache_info().functions)


@pytest.mark.usefixtures("_tags")
@pytest.mark.parametrize("name", CASES)
def test_a_changed_value_is_noticed(name: str, tmp_path: Path) -> None:
    program = _run(CASES[name], tmp_path)
    before, after = getattr(program, "EXPECTED", (2.0, 5.0))
    one = tf.constant(1.0)
    assert program.f(one) == before
    traces = _traces()
    assert program.f(one) == before
    assert _traces() == traces
    program.change()
    assert program.f(one) == after
    traces = _traces()
    assert program.f(one) == after
    assert _traces() == traces
    if hasattr(program, "back"):
        program.back()
        assert program.f(one) == before
        assert _traces() == traces, "a value that comes back finds its trace"


@pytest.mark.parametrize("name", CASES)
def test_ignore_notices_nothing(name: str, tmp_path: Path) -> None:
    program = _run(CASES[name], tmp_path, stale="ignore")
    one = tf.constant(1.0)
    before = program.f(one)
    program.change()
    assert program.f(one) == before
