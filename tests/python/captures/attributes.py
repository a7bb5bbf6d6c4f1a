"""Attributes: of self, arguments, objects, classes, modules; the objects themselves replaced."""

CASES = {
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
}
