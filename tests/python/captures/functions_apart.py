"""Programs whose calls with functions must not get a trace of another function."""

from __future__ import annotations

import textwrap

_APART: dict[str, str] = {
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


def programs() -> dict[str, str]:
    """The programs, by name."""
    return {name: textwrap.dedent(source) for name, source in _APART.items()}
