"""Fresh lambdas that read something which changes: no trace may outlive what it has read."""

from __future__ import annotations

# What fresh lambdas read, and what changes it before each call: (before, change to i, expression).
_READS: dict[str, tuple[str, str, str]] = {
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


def programs() -> dict[str, str]:
    """The programs, by name."""
    found: dict[str, str] = {}
    for name, (before, change, read) in _READS.items():
        names = "a, e, h, it, k, len, pi" if "globals()" not in change else "a, e, h, it, k, pi"
        found[f"fresh lambdas that read {name}"] = (
            f"{before}\ndef change(i):\n    global {names}\n    {change}\n"
            f"def steps():\n    for i in (1, 2, 3):\n        change(i)\n"
            f"        yield (lambda x: x * {read},)\n"
        )
    return found
