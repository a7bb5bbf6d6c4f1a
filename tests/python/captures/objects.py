"""What objects do by methods with special names, and values found in other ways."""

CASES = {
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
    "what a helper returns": """
        box = Box(k=2.0)
        def same(x): return x
        @FUNCTION
        def f(x): return x * same(box).k
        def change(): box.k = 5.0
        """,
    "an attribute that a helper returns": """
        box = Box(inner=Box(k=2.0))
        def inner_of(x): return x.inner
        @FUNCTION
        def f(x): return x * inner_of(box).k
        def change(): box.inner.k = 5.0
        """,
    "what a helper returns of several": """
        boxes = Box(first=Box(k=1.0), second=Box(k=2.0))
        def second(a, b=None): return b
        @FUNCTION
        def f(x): return x * second(boxes.first, b=boxes.second).k
        def change(): boxes.second.k = 5.0
        """,
    "what a method returns of its argument": """
        class Model:
            def __init__(self): self.config = Box(inner=Box(k=2.0))
            def inner_of(self, config): return config.inner
            @FUNCTION
            def __call__(self, x): return x * self.inner_of(self.config).k
        model = Model()
        def f(x): return model(x)
        def change(): model.config.inner.k = 5.0
        """,
    "what a helper's helper returns": """
        box = Box(inner=Box(k=2.0))
        def inner_of(x): return x.inner
        def twice(x): return inner_of(x)
        @FUNCTION
        def f(x): return x * twice(box).k
        def change(): box.inner.k = 5.0
        """,
}
