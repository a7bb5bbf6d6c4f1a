"""The names that code reads from around it, for definitions which a conversion leaves alone.

These are classes, generators and coroutines inside of a converted function.
"""

import ast
from collections.abc import Iterable

_FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
_Comprehension = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp


class _Names:
    """What one scope reads, binds and declares."""

    def __init__(self) -> None:
        self.read: set[str] = set()
        self.bound: set[str] = set()
        self.outer: set[str] = set()  # declared nonlocal
        self.module: set[str] = set()  # declared global
        self.inner: set[str] = set()  # free in scopes inside of this one

    def visit(self, node: ast.AST) -> None:
        if isinstance(node, ast.Name):
            (self.read if isinstance(node.ctx, ast.Load) else self.bound).add(node.id)
        elif isinstance(node, ast.Nonlocal):
            self.outer.update(node.names)
        elif isinstance(node, ast.Global):
            self.module.update(node.names)
        elif isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            self.bound.add(node.name)
            self.inner |= free_names(node)
            self.visit_all(_evaluated_outside(node))
            return
        elif isinstance(node, ast.Lambda | _Comprehension):
            self.inner |= free_names(node)
            if isinstance(node, _Comprehension):
                # Its assignment expressions bind names of the function around it.
                named = (part for part in ast.walk(node) if isinstance(part, ast.NamedExpr))
                self.bound.update(part.target.id for part in named)
            self.visit_all(_evaluated_outside(node))
            return
        elif isinstance(node, ast.ExceptHandler | ast.MatchAs | ast.MatchStar):
            if node.name is not None:
                self.bound.add(node.name)
        elif isinstance(node, ast.MatchMapping) and node.rest is not None:
            self.bound.add(node.rest)
        elif isinstance(node, ast.alias):
            self.bound.add((node.asname or node.name).split(".")[0])
        self.visit_all(ast.iter_child_nodes(node))

    def visit_all(self, nodes: Iterable[ast.AST]) -> None:
        for node in nodes:
            self.visit(node)


def free_names(node: ast.AST) -> set[str]:
    """Returns the names that a definition, a lambda or a comprehension has from around it."""
    names = _Names()
    if isinstance(node, ast.ClassDef):
        names.visit_all(node.body)
        own = names.read - names.bound
        return (own | names.inner | names.outer) - names.module
    if isinstance(node, _FunctionNode):
        names.bound.update(one.arg for one in _arguments(node.args))
        names.visit_all(node.body if isinstance(node.body, list) else [node.body])
    elif isinstance(node, _Comprehension):
        outside = node.generators[0].iter
        for generator in node.generators:
            names.visit(generator.target)
            names.visit_all([*generator.ifs] + [generator.iter] * (generator.iter is not outside))
        parts = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
        names.visit_all(parts)
    found = names.read | names.inner | names.outer
    return found - (names.bound - names.outer) - names.module


def bound_names(body: list[ast.stmt]) -> set[str]:
    """Returns the names that statements bind, without those of scopes inside of them."""
    names = _Names()
    names.visit_all(body)
    return names.bound - names.outer - names.module


def _evaluated_outside(node: ast.AST) -> list[ast.AST]:
    """What the scope around a definition evaluates: decorators, defaults, annotations, bases."""
    found: list[ast.AST] = []
    if isinstance(node, ast.ClassDef):
        found += [*node.decorator_list, *node.bases]
        found += [keyword.value for keyword in node.keywords]
        return found
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        found += node.decorator_list
        if node.returns is not None:
            found.append(node.returns)
        found += [arg.annotation for arg in _arguments(node.args) if arg.annotation is not None]
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
        found += node.args.defaults
        found += [value for value in node.args.kw_defaults if value is not None]
    if isinstance(node, _Comprehension):
        found.append(node.generators[0].iter)
    return found


def _arguments(arguments: ast.arguments) -> list[ast.arg]:
    found = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    found += [one for one in (arguments.vararg, arguments.kwarg) if one is not None]
    return found
