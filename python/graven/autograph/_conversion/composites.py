"""Composites: places inside of objects that a function sets, such as `a.b`, `d['k']` and `x[i]`."""

import ast
from dataclasses import dataclass

from graven.autograph._conversion.nodes import LOAD, constant, load, put


@dataclass(frozen=True, slots=True)
class Composite:
    """An attribute or an item of something that has a name.

    Attributes:
      text: Its source.
      names: The names that it reads.
      base: What holds it: a name or a composite.
      key: The name of an attribute, or what finds an item.
      is_item: Whether it is an item.
    """

    text: str
    names: frozenset[str]
    base: "str | Composite"
    key: "object | Composite | Variable"
    is_item: bool

    def node(self, at: ast.AST, ctx: ast.expr_context = LOAD) -> ast.expr:
        """Returns a new expression for it. It has no calls of operators."""
        base = load(self.base, at) if isinstance(self.base, str) else self.base.node(at)
        if not self.is_item:
            return put(ast.Attribute(base, str(self.key), ctx), at)
        key: ast.expr
        if isinstance(self.key, Variable):
            key = load(self.key.name, at)
        elif isinstance(self.key, Composite):
            key = self.key.node(at)
        else:
            key = constant(self.key, at)  # type: ignore[arg-type]  # of a Constant of the user's
        return put(ast.Subscript(base, key, ctx), at)


@dataclass(frozen=True, slots=True)
class Variable:
    """A name as the key of an item."""

    name: str


def composite_of(node: ast.expr) -> Composite | None:
    """Returns the composite that a target is; None if it holds calls or slices."""
    if isinstance(node, ast.Attribute):
        base = _base_of(node.value)
        if base is None:
            return None
        text, names = _described(base)
        return Composite(f"{text}.{node.attr}", names, base, node.attr, False)
    if isinstance(node, ast.Subscript):
        base = _base_of(node.value)
        if base is None:
            return None
        text, names = _described(base)
        if isinstance(node.slice, ast.Constant):
            value = node.slice.value
            return Composite(f"{text}[{value!r}]", names, base, value, True)
        key = _base_of(node.slice)
        if key is None:
            return None
        key_text, key_names = _described(key)
        stored = Variable(key) if isinstance(key, str) else key
        return Composite(f"{text}[{key_text}]", names | key_names, base, stored, True)
    return None


def _base_of(node: ast.expr) -> "str | Composite | None":
    return node.id if isinstance(node, ast.Name) else composite_of(node)


def _described(base: "str | Composite") -> tuple[str, frozenset[str]]:
    if isinstance(base, str):
        return base, frozenset((base,))
    return base.text, base.names
