"""Items of lists, tuples and dicts, and their lengths."""

CASES = {
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
    "arguments by name of a function of containers": """
        ks = [5.0, 2.0]
        class Config: reverse = False
        config = Config()
        @FUNCTION
        def f(x): return x * sorted(ks, reverse=config.reverse)[0]
        def change(): config.reverse = True
        def back(): config.reverse = False
        """,
    "first number of an enumeration": """
        start = 2
        @FUNCTION
        def f(x):
            for i, _ in enumerate("a", start=start): x = x * i
            return x
        def change():
            global start
            start = 5
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
}
