"""Functions as arguments of a Function: programs that share a trace, and programs that must not.

Each is Python code. `steps()` yields the arguments of calls after x; `body(x, g, ...)` is what is
traced, `g(x)` unless the program says otherwise. SHARED says how many traces the calls make. The
others, of the files functions_apart*.py, are told apart by something that a trace of another
function would have got wrong.
"""

from __future__ import annotations

from python.captures import functions_apart, functions_apart_by_identity, functions_apart_by_reads

HEADER = """
class Box:
    def __init__(self, **values):
        self.__dict__.update(values)
x = tf.constant(2.0)
def mk(k): return lambda x: x * k
def body(x, g): return g(x)
"""

# Programs, and how many traces the calls make.
SHARED: dict[str, tuple[int, str]] = {
    "fresh lambdas": (
        1,
        """
        def steps():
            for _ in range(3): yield (lambda x: x * 2.0,)
        """,
    ),
    "captured numbers, two of them": (
        2,
        """
        def steps():
            for i in range(6): yield (mk(float(i % 2)),)
        """,
    ),
    "captured plain values": (
        1,
        """
        def make(a, b, c, d, e, f): return lambda x: x * f if d is None and b else x
        def steps():
            for _ in range(3): yield (make("a" * 9, True, b"b", None, (3, "x", (1j,)), 2.0),)
        """,
    ),
    "captured tensor, variable and dtype": (
        1,
        """
        w, v = tf.constant(2.0), tf.Variable(3.0)
        def make(w, v, d): return lambda x: tf.cast(x, d) * w * v
        def steps():
            yield (make(w, v, tf.float32),)
            v.assign(4.0)
            yield (make(w, v, tf.float32),)
        """,
    ),
    "captured lambda": (
        2,
        """
        def make(k):
            g = lambda x: x * k
            return lambda x: g(g(x))
        def steps():
            for k in (2.0, 3.0, 2.0): yield (make(k),)
        """,
    ),
    "a variable of the function around that changes": (
        2,
        """
        def steps():
            for k in (2.0, 3.0, 2.0, 3.0): yield (lambda x: x * k,)
        """,
    ),
    "the class of data": (
        1,
        """
        def make(): return lambda x: x * 2.0 if isinstance(x, tf.Tensor) else x
        def steps():
            for _ in range(3): yield (make(),)
        """,
    ),
    "many calls one after another": (
        1,
        f"""
        def half(x): return x * 0.5
        def make(): return lambda x: {"half(" * 30}x{")" * 30}
        def steps():
            for _ in range(3): yield (make(),)
        """,
    ),
    "a list of numbers": (
        1,
        """
        def make(): return lambda x: tf.reduce_sum(tf.stack([1.0, 2.0, 3.0]) * x)
        def steps():
            for _ in range(3): yield (make(),)
        """,
    ),
    "a dict that gets an item": (
        1,
        """
        def make():
            def g(x):
                d = {}
                d["a"] = x * 2.0
                return d["a"]
            return g
        def steps():
            for _ in range(3): yield (make(),)
        """,
    ),
    "captured public function": (
        1,
        """
        def make(act): return lambda x: act(x + 1.0)
        def steps():
            for _ in range(3): yield (make(tf.nn.relu),)
        """,
    ),
    "captured Function": (
        3,
        """
        inner = tf.function(lambda x: x + 1.0)
        def make(inner): return lambda x: inner(x)
        def steps():
            for _ in range(3): yield (make(inner),)
        """,
    ),
    "captured object": (
        2,
        """
        m = Box(k=2.0)
        def make(m): return lambda x: x * m.k
        def steps():
            for m.k in (2.0, 3.0, 2.0): yield (make(m),)
        """,
    ),
    "defaults": (
        2,
        """
        def make(k):
            def g(x, a=k): return x * a
            return g
        def steps():
            for k in (2.0, 3.0, 2.0): yield (make(k),)
        """,
    ),
    "globals read within": (
        2,
        """
        k, w = 2.0, tf.Variable(3.0)
        def helper(x, n=2): return x * w + n
        def steps():
            global k
            for k in (2.0, 3.0, 2.0): yield (lambda x: helper(x) * k,)
        """,
    ),
    "bound method": (
        2,
        """
        class Model:
            c = 5.0
            def __init__(self): self.k, self.w = 2.0, tf.Variable(3.0)
            def scaled(self, x): return x * self.k + self.c
            def step(self, x): return self.scaled(x) * self.w
        m = Model()
        def steps():
            for m.k in (2.0, 3.0, 2.0): yield (m.step,)
        """,
    ),
    "methods of two objects": (
        2,
        """
        class Model:
            def __init__(self, k): self.k = k
            def step(self, x): return x * self.k
        a, b = Model(2.0), Model(2.0)
        def steps():
            for m in (a, b, a, b): yield (m.step,)
        """,
    ),
    "two functions": (
        3,
        """
        def body(x, g, h): return g(h(x)) + h(x)
        def steps():
            for a, b in ((2.0, 3.0), (3.0, 2.0), (2.0, 3.0), (2.0, 2.0)): yield mk(a), mk(b)
        """,
    ),
    "called by a helper and a local function": (
        1,
        """
        def twice(g, x): return g(g(x))
        def body(x, g):
            def again(y, n=2): return twice(g, y) * n
            return again(x) if g is not None else x
        def steps():
            for _ in range(3): yield (mk(2.0),)
        """,
    ),
    "called in branches and loops": (
        1,
        """
        def body(x, g):
            for _ in tf.range(2):
                if x > 0.0: x = g(x)
            for i in range(2): x = g(x) + i
            while x < 10.0: x = g(x) + 1.0
            return tf.cond(x > 1.0, lambda: g(x), lambda: x)
        def steps():
            for _ in range(3): yield (mk(2.0),)
        """,
    ),
    "called by public functions": (
        1,
        """
        def body(x, g):
            rows = tf.map_fn(g, tf.stack([x, x]))
            return tf.foldl(lambda a, b: a + g(b), rows) + tf.reduce_sum(tf.vectorized_map(g, rows))
        def steps():
            for _ in range(3): yield (mk(2.0),)
        """,
    ),
    "with comprehensions, containers and numbers": (
        1,
        """
        import math
        def body(x, g, sizes, names):
            out = []
            for n in sizes: out.append(g(x) * n)
            table = {name: x * len(out) for name in names}
            total = sum([value * math.sqrt(4) for value in out])
            return total + table["a"] + max(sizes) - int(2.5) + abs(-1)
        def steps():
            for _ in range(3): yield mk(2.0), (1, 2), ["a", "b"]
        """,
    ),
    "a function as a default": (
        1,
        """
        same = lambda x: x
        def body(x, g, h=same): return g(x) + h(x)
        def steps():
            for _ in range(3): yield (mk(2.0),)
        """,
    ),
}


def programs_apart() -> dict[str, str]:
    """All programs that must not share, by name."""
    return {
        **functions_apart.programs(),
        **functions_apart_by_reads.programs(),
        **functions_apart_by_identity.programs(),
    }
