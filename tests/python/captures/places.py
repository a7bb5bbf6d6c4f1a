"""Where a value is read: names, helpers, branches, loops, nested Functions, custom gradients."""

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
    "keyword-only default argument of a helper": """
        cfg = Box(k=2.0)
        def helper(x, *, cfg=cfg): return x * cfg.k
        @FUNCTION
        def f(x): return helper(x)
        def change(): cfg.k = 5.0
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
}
