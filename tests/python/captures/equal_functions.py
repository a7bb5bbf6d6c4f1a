"""Functions as arguments of a Function: programs that share a trace, and programs that must not.

Each is Python code. `steps()` yields the arguments of calls after x; `body(x, g, ...)` is what is
traced, `g(x)` unless the program says otherwise. SHARED says how many traces the calls make. The
others are told apart by something that a trace of another function would have got wrong.
"""

from __future__ import annotations

import textwrap

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

# What fresh lambdas read, and what changes it before each call: (before, change to i, expression).
READS: dict[str, tuple[str, str, str]] = {
    "an array": ("a = np.ones(1)", "a[0] = i", "float(a[0])"),
    "an item of a list": ("a = [1.0]", "a[0] = float(i)", "a[0]"),
    "an item of a dict": ("a = {'k': 1.0}", "a['k'] = float(i)", "a['k']"),
    "a list in a tuple": ("a = ([1.0],)", "a[0][0] = float(i)", "a[0][0]"),
    "a set": ("a = {1}", "a.add(i)", "float(len(a))"),
    "a deque": ("a = collections.deque([1.0])", "a[0] = float(i)", "a[0]"),
    "an attribute that is a list": ("a = Box(l=[1.0])", "a.l[0] = float(i)", "a.l[0]"),
    "an attribute by vars": ("a = Box(k=1.0)", "a.k = float(i)", "vars(a)[''.join('k')]"),
    "an attribute by __dict__": ("a = Box(k=1.0)", "a.k = float(i)", "a.__dict__[''.join('k')]"),
    "values of __dict__": ("a = Box(k=1.0)", "a.k = float(i)", "sum(a.__dict__.values())"),
    "an attribute by getattr": ("a = Box(k=1.0)", "a.k = float(i)", "getattr(a, ''.join('k'))"),
    "__getattribute__": ("a = Box(k=1.0)", "a.k = float(i)", "a.__getattribute__('k')"),
    "operator.attrgetter": ("a = Box(k=1.0)", "a.k = float(i)", "operator.attrgetter('k')(a)"),
    "a partial of getattr": (
        "a = Box(k=1.0)",
        "a.k = float(i)",
        "functools.partial(getattr, a)('k')",
    ),
    "a slot": (
        "class S: __slots__ = ('k', '__weakref__')\na = S()",
        "a.k = float(i)",
        "a.k",
    ),
    "globals()": ("a = 1.0", "a = float(i)", "globals()[''.join('a')]"),
    "sys.modules": ("a = 1.0", "a = float(i)", "vars(sys.modules[__name__])['a']"),
    "__globals__ of a function": ("a = 1.0\ndef h(): pass", "a = float(i)", "h.__globals__['a']"),
    "an attribute of a function": ("def h(): pass", "h.k = float(i)", "h.k"),
    "defaults of a function": ("def h(k=1.0): return k", "h.__defaults__ = (float(i),)", "h()"),
    "defaults that become objects": (
        "def h(k=1.0): return float(k[0]) if isinstance(k, list) else k\na = [0.0]",
        "a[0] = float(i)\n    h.__defaults__ = (float(i),) if i < 2 else (a,)",
        "h()",
    ),
    "keyword-only defaults": (
        "def h(*, k=1.0): return k",
        "h.__kwdefaults__ = {'k': float(i)}",
        "h()",
    ),
    "keyword-only defaults in place": (
        "def h(*, k=1.0): return k",
        "h.__kwdefaults__['k'] = float(i)",
        "h()",
    ),
    "the code of a function": (
        "def h(): return 1.0\ncodes = [h.__code__, (lambda: 2.0).__code__, (lambda: 3.0).__code__]",
        "h.__code__ = codes[i % 3]",
        "h()",
    ),
    "a function that is replaced": (
        "hs = [lambda: 1.0, lambda: 2.0, lambda: a[0]]\na = [0.0]",
        "a[0] += 1.0\n    h = hs[min(i, 2)]",
        "h()",
    ),
    "a function of Graven that is replaced": (
        "import types\nours = types.SimpleNamespace(add=tf.add)\nadds = [tf.add, tf.multiply]",
        "ours.add = adds[i % 2]",
        "ours.add(x, 3.0)",
    ),
    "a builtin that is hidden": (
        "ls = [1.0, 2.0]",
        "globals()['len'] = (lambda n: lambda v: n)(i)",
        "float(len(ls))",
    ),
    "a closure that is set": (
        "def make(k):\n    def put(v):\n        nonlocal k\n        k = v\n"
        "    return (lambda: k), put\nh, put = make(1.0)",
        "put(float(i))",
        "h()",
    ),
    "a closure that gets a list": (
        "def make(k):\n    def put(v):\n        nonlocal k\n        k = v\n"
        "    return (lambda: k if isinstance(k, float) else k[0]), put\n"
        "h, put = make(1.0)\na = [0.0]",
        "a[0] = float(i)\n    put(a if i > 1 else float(i))",
        "h()",
    ),
    "cell_contents": (
        "h = (lambda k: lambda: k)(1.0)\nc = h.__closure__[0]",
        "c.cell_contents = float(i)",
        "c.cell_contents",
    ),
    "a property that counts": (
        "class P:\n    n = 0.0\n    @property\n    def k(self):\n        self.n += 1.0\n"
        "        return self.n\na = P()",
        "pass",
        "a.k",
    ),
    "__getattr__ that counts": (
        "class P:\n    n = 0.0\n    def __getattr__(self, name):\n"
        "        if name[0] == '_': raise AttributeError(name)\n        P.n += 1.0\n"
        "        return P.n\na = P()",
        "pass",
        "a.k",
    ),
    "an operator that counts": (
        "class P:\n    n = 0.0\n    def __add__(self, other):\n        self.n += 1.0\n"
        "        return self.n\na = P()",
        "pass",
        "(a + 1)",
    ),
    "__str__": (
        "class P:\n    k = 1.0\n    def __str__(self): return str(self.k)\na = P()",
        "a.k = float(i)",
        "float(str(a))",
    ),
    "__format__": (
        "class P:\n    k = 1.0\n    def __format__(self, spec): return str(self.k)\na = P()",
        "a.k = float(i)",
        "float(f'{a}')",
    ),
    "__round__": (
        "class P:\n    k = 1.0\n    def __round__(self): return self.k\na = P()",
        "a.k = float(i)",
        "round(a)",
    ),
    "__len__ and __bool__": (
        "class P:\n    k = 1\n    def __len__(self): return self.k\na = P()",
        "a.k = i",
        "(float(len(a)) if a else 9.0)",
    ),
    "__contains__": (
        "class P:\n    k = 1\n    def __contains__(self, v): return self.k == v\na = P()",
        "a.k = i",
        "(2.0 if 1 in a else 3.0)",
    ),
    "__call__": (
        "class P:\n    k = 1.0\n    def __call__(self): return self.k\na = P()",
        "a.k = float(i)",
        "a()",
    ),
    "a descriptor": (
        "a = [1.0]\nclass D:\n    def __get__(self, o, t): return a[0]\nclass P: k = D()\np = P()",
        "a[0] = float(i)",
        "p.k",
    ),
    "an attribute that becomes a property": (
        "class P: pass\np, a = P(), [1.0]\np.k = 1.0",
        "a[0] = float(i)\n    if i == 2: P.k = property(lambda self: a[0])",
        "p.k",
    ),
    "an attribute that is hidden by __getattribute__": (
        "class P: pass\np, a = P(), [1.0]\np.k = 1.0",
        "a[0] = float(i)\n    if i == 2: P.__getattribute__ = lambda self, name: a[0]",
        "p.k",
    ),
    "an object of another class": (
        "class P: k = 1.0\nclass Q:\n    n = 5.0\n    @property\n    def k(self):\n"
        "        Q.n += 1.0\n        return Q.n\np = P()",
        "if i == 2: p.__class__ = Q",
        "p.k",
    ),
    "a method of a class that is replaced": (
        "class P:\n    def m(self): return 1.0\np = P()",
        "P.m = (lambda k: lambda self: k)(float(i))",
        "p.m()",
    ),
    "an iterator": ("it = iter([1.0, 2.0, 3.0, 4.0, 5.0, 6.0])", "pass", "next(it)"),
    "itertools.count": ("it = itertools.count(1)", "pass", "float(next(it))"),
    "a queue": ("a = [4.0, 3.0, 2.0, 1.0]", "pass", "a.pop()"),
    "a generator expression": ("a = [1.0]", "a[0] = float(i)", "sum(v for v in a)"),
    "a context variable": (
        "import contextvars\na = contextvars.ContextVar('a')",
        "a.set(float(i))",
        "a.get()",
    ),
    "a thread's local": ("import threading\na = threading.local()", "a.k = float(i)", "a.k"),
    "the environment": (
        "import os",
        "os.environ['EQUAL_K'] = str(i)",
        "float(os.environ['EQUAL_K'])",
    ),
    "a file": (
        "import os, tempfile\npath = os.path.join(tempfile.mkdtemp(), 'k')",
        "open(path, 'w').write(str(i))",
        "float(open(path).read())",
    ),
    "random numbers": ("import random", "random.seed(i)", "random.random()"),
    "an attribute of math": ("import math\npi = math.pi", "math.pi = float(i)", "math.pi"),
    "sorted by a key": (
        "a = [1.0]",
        "a[0] = (-1.0) ** i",
        "sorted([1.0, 2.0], key=lambda v: v * a[0])[0]",
    ),
    "functools.reduce": (
        "a = [1.0]",
        "a[0] = float(i)",
        "functools.reduce(lambda p, q: p + q + a[0], [1.0, 2.0])",
    ),
    "a partial whose keywords change": (
        "h = functools.partial(lambda k: k, k=1.0)",
        "h.keywords['k'] = float(i)",
        "h()",
    ),
    "a cached function": (
        "a = [1.0]\nh = functools.lru_cache(lambda n: a[0])\n",
        "a[0] = float(i)\n    h.cache_clear()",
        "h(1)",
    ),
    "the value of a variable": ("v = tf.Variable(1.0)", "v.assign(float(i))", "v"),
    "a flag beside the lambda": ("a = Box(on=True)", "a.on = i % 2 == 0", "(2.0 if a.on else 3.0)"),
    "not numbers that are one or two": (
        "nan, other = float('nan'), float('nan')\nes = [nan, other, nan]",
        "e = es[i - 1]",
        "(2.0 if e in (nan,) else 3.0)",
    ),
    "a captured generator": ("a = (float(k) for k in range(9))", "pass", "next(a)"),
    "match": (
        "a = Box(k=1.0)\ndef h(a):\n    match a:\n        case Box(k=v): return v\n",
        "a.k = float(i)",
        "h(a)",
    ),
    "an object chosen by an expression": (
        "a = Box(l=[Box(k=1.0), Box(k=2.0)])",
        "a.l[0].k = float(i)",
        "(a.l[0] if a else a.l[1]).k",
    ),
    "an object through **kwargs": (
        "a = Box(k=1.0)\ndef h(**k): return k['q'].k",
        "a.k = float(i)",
        "h(q=a)",
    ),
}

# What a body does to find out which function it got; `st` is a stored one of the same code.
KNOWS: dict[str, tuple[str, str]] = {
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

# Whole programs whose calls must not get a trace of another function.
APART: dict[str, str] = {
    "a variable that is an argument and captured": """
        u, b = tf.Variable(1.0), tf.Variable(10.0)
        def body(x, v, g): return g(v)
        def steps():
            for v in (u, b, u, b): yield v, lambda w: w * 1.0 + u * 100.0
        """,
    "the order of a dict": """
        def body(x, d, g):
            total = x * 0.0
            for k in d: total = total * 10.0 + g(d[k])
            return total
        def steps():
            one, two = tf.constant(1.0), tf.constant(2.0)
            yield {"w": one, "b": two}, lambda v: v * 2.0
            yield {"b": two, "w": one}, lambda v: v * 2.0
        """,
    "functions of other parameters": """
        def body(x, a, b, c, d): return x * (2.0 if c == d else 3.0)
        def steps():
            yield mk(2.0), mk(2.0), 1, 2
            same = mk(2.0)
            yield None, None, same, same
            yield None, None, mk(2.0), mk(2.0)
        """,
    "identities of captured values": """
        def make(k, j): return lambda x: x * (2.0 if k is j else 3.0)
        def steps():
            yield (make(None, None),)
            k = float("1.5")
            yield (make(k, k),)
            yield (make(float("1.5"), float("1.5")),)
        """,
    "an attribute before a method": """
        v = tf.Variable(2.0)
        calls = []
        def steps():
            yield (lambda x: x * v.read_value(),)
            read = v.read_value
            def counted():
                calls.append(1)
                return read() + float(len(calls))
            v.read_value = counted
            for _ in range(3): yield (lambda x: x * v.read_value(),)
        """,
    "a fresh function that fails beside one that stays": """
        def loss(v): return v * 2.0
        def body(x, loss, act): return loss(act(x))
        def good(): return lambda v: v + 1.0
        def bad(): return lambda v: v * {1: 2.0}[2]
        def steps():
            for make in (good, bad, bad, good): yield loss, make()
        """,
    "captured numbers of other types": """
        def make(k):
            return lambda x: x * (2.0 if isinstance(k, bool) else 3.0 if k / 2 == 0 else 4.0)
        def steps():
            for k in (1, True, 1.0, 0, False, 1): yield (make(k),)
        """,
    "zeros of both signs": """
        def make(k): return lambda x: 1.0 / (x * 0.0 * k + k)
        def steps():
            for k in (0.0, -0.0, 0.0): yield (make(tf.constant(k)),)
            for k in (0.0, -0.0, 0.0): yield (make(k),)
        """,
    "complex zeros": """
        def make(k): return lambda x: x + tf.cast(tf.math.angle(tf.constant(k)), tf.float32)
        def steps():
            for k in (complex(-1.0, 0.0), complex(-1.0, -0.0)): yield (make(k),)
        """,
    "other code on one line": """
        def steps():
            for _ in range(2):
                yield (lambda x: x * 2.0,); yield (lambda x: x * 3.0,)
        """,
    "globals of no module": """
        code = compile("g = lambda x: x * k", "one_code", "exec")
        def g_of(k):
            names = {"k": k, "__name__": "nowhere"}
            exec(code, names)
            return names["g"]
        def steps():
            for k in (2.0, 3.0, 2.0): yield (g_of(k),)
        """,
    "globals of two modules": """
        import sys, types
        code = compile("g = lambda x: x * k", "one_code", "exec")
        def module(name, k):
            sys.modules[name] = made = types.ModuleType(name)
            made.k = k
            return made
        def g_of(m):
            exec(code, vars(m))
            return m.g
        a, b = module("equal_a", 2.0), module("equal_b", 3.0)
        def steps():
            for m in (a, b, a, b): yield (g_of(m),)
        """,
    "builtins of its own": """
        import types
        code = (lambda x: x * len("ab")).__code__
        def steps():
            for n in (2.0, 3.0, 2.0):
                names = {"__builtins__": {"len": lambda v, n=n: n}, "__name__": __name__}
                yield (types.FunctionType(code, names),)
        """,
    "a list that is captured": """
        def make(k): return lambda x: x * k[0]
        def steps():
            k = [2.0]
            for k[0] in (2.0, 3.0, 2.0): yield (make(k),)
        """,
    "a nonlocal that the function changes": """
        def make(n):
            def g(x):
                nonlocal n
                n += 1.0
                return x * n
            return g
        def steps():
            for _ in range(3): yield (make(1.0),)
            g = make(1.0)
            yield (g,)
        """,
    "a shared count": """
        def steps():
            n = 0.0
            def make():
                def g(x):
                    nonlocal n
                    n += 1.0
                    return x * n
                return g
            for _ in range(3): yield (make(),)
        """,
    "a list that the function fills": """
        seen = []
        def make():
            def g(x):
                seen.append(1)
                return x * float(len(seen))
            return g
        def steps():
            for _ in range(3): yield (make(),)
        """,
    "a local name of a list that grows": """
        seen = [1.0]
        def make():
            def g(x):
                own = seen
                own += [1.0]
                return x * float(len(own))
            return g
        def steps():
            for _ in range(3): yield (make(),)
        """,
    "a global that the function sets": """
        n = 0.0
        def make():
            def g(x):
                global n
                n = n + 1.0
                return x * n
            return g
        def steps():
            for _ in range(3): yield (make(),)
        """,
    "an attribute that the function sets": """
        a = Box(n=0.0)
        def make():
            def g(x):
                a.n += 1.0
                return x * a.n
            return g
        def steps():
            for _ in range(3): yield (make(),)
        """,
    "setdefault": """
        d = {}
        def steps():
            for _ in range(3): yield (lambda x: x * float(d.setdefault(len(d), 1) + len(d)),)
        """,
    "a defaultdict": """
        d = collections.defaultdict(float)
        def steps():
            for _ in range(3): yield (lambda x: (x * float(len(d)), d[len(d)])[0],)
        """,
    "operator.setitem": """
        a = [1.0]
        def steps():
            for _ in range(3): yield (lambda x: (x * a[0], operator.setitem(a, 0, a[0] + 1))[0],)
        """,
    "object.__setattr__": """
        a = Box(n=1.0)
        def steps():
            for _ in range(3):
                yield (lambda x: (x * a.n, object.__setattr__(a, "n", a.n + 1.0))[0],)
        """,
    "what the traced body reads": """
        a = np.ones(1)
        def body(x, g): return g(x) * float(a[0])
        def steps():
            for a[0] in (2.0, 3.0): yield (mk(1.0),)
        """,
    "what the traced body counts": """
        seen = []
        def body(x, g):
            seen.append(1)
            return g(x) * float(len(seen))
        def steps():
            for _ in range(3): yield (mk(1.0),)
        """,
    "a helper of the body that counts": """
        seen = []
        def count():
            seen.append(1)
            return float(len(seen))
        def body(x, g): return g(x) * count()
        def steps():
            for _ in range(3): yield (mk(1.0),)
        """,
    "a body that keeps functions": """
        kept = []
        def body(x, g):
            kept.append(g)
            return kept[0](x) + kept[-1](x)
        def steps():
            for k in (2.0, 3.0, 2.0): yield (mk(k),)
        """,
    "functions that are one or two": """
        def body(x, g, h): return x * 2.0 if g is h else x * 3.0
        def steps():
            g = mk(1.0)
            yield g, g
            yield mk(1.0), mk(1.0)
            yield g, g
            yield mk(1.0), g
        """,
    "a function that is also a global": """
        def make(k):
            def put(v):
                nonlocal k
                k = v
            return (lambda x: x * k), put
        other, put = make(2.0)
        def body(x, g): return g(x) + other(x)
        def steps():
            yield (other,)
            yield (make(2.0)[0],)
            put(3.0)
            yield (make(2.0)[0],)
            yield (other,)
        """,
    "a function whose cell is set": """
        def make(k):
            def put(v):
                nonlocal k
                k = v
            return (lambda x: x * k), put
        def steps():
            g, put_g = make(2.0)
            h, put_h = make(2.0)
            yield (g,)
            yield (h,)
            put_g(3.0)
            yield (g,)
            yield (h,)
            put_h(3.0)
            yield (h,)
            put_g(2.0)
            yield (g,)
            yield (h,)
        """,
    "a function whose defaults and code are set": """
        def make():
            def g(x, k=2.0): return x * k
            return g
        def steps():
            g = make()
            yield (g,)
            g.__defaults__ = (3.0,)
            yield (g,)
            yield (make(),)
            g.__code__ = (lambda x, k: x + k).__code__
            yield (g,)
            yield (make(),)
        """,
    "keyword-only defaults of the argument": """
        def make(k):
            def g(x, *, k=k): return x * k
            return g
        def steps():
            for k in (2.0, 3.0, 2.0): yield (make(k),)
            g = make(2.0)
            g.__kwdefaults__["k"] = 4.0
            yield (g,)
        """,
    "a wrapper": """
        def make(k):
            def base(x): return x * k
            @functools.wraps(base)
            def g(x): return base(x)
            return g
        def steps():
            for k in (2.0, 3.0, 2.0): yield (make(k),)
        """,
    "partials": """
        def scale(x, k): return x * k
        def steps():
            for k in (2.0, 3.0, 2.0): yield (functools.partial(scale, k=k),)
            g = functools.partial(scale, k=2.0)
            yield (g,)
            g = functools.partial(scale, k=4.0)
            yield (g,)
        """,
    "a method whose object keeps a list": """
        class C:
            def __init__(self): self.l = [1.0]
            def m(self, x): return x * self.l[0]
        c = C()
        def steps():
            for c.l[0] in (2.0, 3.0, 2.0): yield (c.m,)
        """,
    "a method that counts": """
        class C:
            n = 0.0
            def m(self, x):
                self.n += 1.0
                return x * self.n
        c = C()
        def steps():
            for _ in range(3): yield (c.m,)
        """,
    "methods of equal objects": """
        class C:
            def __init__(self, k): self.k = k
            def __eq__(self, other): return True
            def __hash__(self): return 1
            def m(self, x): return x * self.k
        a, b = C(2.0), C(3.0)
        def steps():
            for c in (a, b, a, b): yield (c.m,)
        """,
    "a method of a class that changes": """
        class C:
            def m(self, x): return x * 2.0
        c, was = C(), C.m
        def steps():
            yield (c.m,)
            C.m = lambda self, x: x * 3.0
            yield (c.m,)
            C.m = was
            yield (c.m,)
        """,
    "a class attribute that an instance hides": """
        class C:
            k = 2.0
            def m(self, x): return x * self.k
        c = C()
        def steps():
            yield (c.m,)
            c.k = 3.0
            yield (c.m,)
            del c.k
            yield (c.m,)
        """,
    "functions in containers": """
        def body(x, gs): return gs["a"](x) + gs["b"][0](x) * 10.0
        def steps():
            for a, b in ((1.0, 2.0), (2.0, 1.0), (1.0, 2.0), (1.0, 1.0)):
                yield ({"a": mk(a), "b": [mk(b)]},)
        """,
    "functions in *args": """
        def body(x, *gs): return sum([g(x) * (i + 1) for i, g in enumerate(gs)])
        def steps():
            for ks in ((1.0, 2.0), (2.0, 1.0, 3.0), (1.0, 2.0)): yield tuple(mk(k) for k in ks)
        """,
    "an object beside": """
        a = Box(l=[1.0])
        def body(x, g, a): return g(x) * a.l[0]
        def steps():
            for a.l[0] in (2.0, 3.0): yield mk(2.0), a
        """,
    "an object with operators beside": """
        class P:
            n = 0.0
            def __rmul__(self, other):
                self.n += 1.0
                return other * self.n
        p = P()
        def body(x, g, p): return g(x) * 1.0 * p if isinstance(p, P) else x
        def steps():
            for _ in range(3): yield mk(2.0), p
        """,
    "an iterator beside": """
        it = iter([1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
        class Holder:
            def __iter__(self): return it
        h = Holder()
        def body(x, g, h):
            for v in h: return g(x) * v
        def steps():
            for _ in range(3): yield mk(2.0), h
        """,
    "a variable of a class of its own": """
        class V(tf.Module):
            n = 0.0
            def k(self):
                self.n += 1.0
                return self.n
        v = V()
        def body(x, g, v): return g(x) * v.k()
        def steps():
            for _ in range(3): yield mk(2.0), v
        """,
    "a nested Function that gets it": """
        seen = []
        @tf.function
        def inner(x, g):
            seen.append(1)
            return g(x) * float(len(seen))
        def body(x, g): return inner(x, g)
        def steps():
            for _ in range(3): yield (mk(2.0),)
        """,
    "a custom gradient": """
        k = 1.0
        @tf.custom_gradient
        def op(x): return x * k, lambda dy: dy * k
        def steps():
            global k
            for k in (2.0, 3.0, 2.0): yield (lambda x: op(x),)
        """,
    "a tape": """
        a = [1.0]
        def body(x, g):
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = g(x) * a[0]
            return tape.gradient(y, x)
        def steps():
            for a[0] in (2.0, 3.0): yield (mk(2.0),)
        """,
    "init_scope": """
        v = tf.Variable(1.0)
        def make():
            def g(x):
                with tf.init_scope(): k = float(v.numpy())
                return x * k
            return g
        def steps():
            for k in (2.0, 3.0):
                v.assign(k)
                yield (make(),)
        """,
    "errors that are caught": """
        a = [1.0]
        def make():
            def g(x):
                try: return x * {1.0: 2.0}[a[0]]
                except KeyError: return x * 9.0
            return g
        def steps():
            for a[0] in (1.0, 2.0, 1.0): yield (make(),)
        """,
    "a late cell": """
        def steps():
            def make():
                g = lambda x: x * k
                k = 2.0
                return g
            for _ in range(2): yield (make(),)
        """,
    "recursion": """
        def make(k):
            def power(x, n=3): return x if n == 0 else k * power(x, n - 1)
            return power
        def steps():
            for k in (2.0, 3.0, 2.0): yield (make(k),)
        """,
    "a function of Graven that is patched": """
        import types
        ours = types.ModuleType("equal_ours")
        ours.scale = lambda x: x * 2.0
        sys.modules["equal_ours"] = ours
        seen = []
        def counting(x):
            seen.append(1)
            return x * float(len(seen))
        def steps():
            for i in range(5):
                if i == 2: ours.scale = counting
                yield (lambda x: ours.scale(x),)
        """,
    "a type of a number in a global": """
        k = 2.0
        a = [1.0]
        def steps():
            global k
            for k in (2.0, 2, True, 2.0): yield (lambda x: x * k if k / 2 == 1 else x,)
        """,
    "a global that becomes a list": """
        k = 2.0
        def steps():
            global k
            yield (lambda x: x * k,)
            k = np.ones(1, np.float32)
            for k[0] in (3.0, 4.0): yield (lambda x: tf.reduce_sum(x * k),)
        """,
}


def programs_apart() -> dict[str, str]:
    """All programs that must not share, by name."""
    found = {name: textwrap.dedent(source) for name, source in APART.items()}
    for name, (before, change, read) in READS.items():
        names = "a, e, h, it, k, len, pi" if "globals()" not in change else "a, e, h, it, k, pi"
        found[f"fresh lambdas that read {name}"] = (
            f"{before}\ndef change(i):\n    global {names}\n    {change}\n"
            f"def steps():\n    for i in (1, 2, 3):\n        change(i)\n"
            f"        yield (lambda x: x * {read},)\n"
        )
    for name, (before, knows) in KNOWS.items():
        found[f"a body that knows a function by {name}"] = (
            f"st = mk(2.0)\n{before}\ndef body(x, g): return x * 2.0 if {knows} else x * 3.0\n"
            "def steps():\n    for g in (None, st, None, st): yield (g or mk(2.0),)\n"
        )
    return found
