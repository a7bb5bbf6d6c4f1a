"""What the branches of a staged `if` leave, and whether they agree."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from graven import _nest
from graven.autograph._operators import returns
from graven.autograph._operators.attempts import stages_objects, with_more_it_may_do
from graven.autograph._operators.placeholders import zeros_like_type
from graven.autograph._operators.user_line import user_line
from graven.autograph._operators.values import dtype_of, to_tensor, type_name
from graven.autograph._operators.variables import is_undefined


class FormsNeededError(Exception):
    """Names must be values of the graph in both branches, which have to be traced again.

    Args:
      forms: The forms, by name.
    """

    def __init__(self, forms: dict[str, Any]) -> None:
        super().__init__()
        self.forms = forms


class ReturnValueNeededError(Exception):
    """Only the else branch returns: the main branch has to be traced again, and to give zeros.

    Args:
      like: By name, the values that the else branch gives.
    """

    def __init__(self, like: dict[str, Any]) -> None:
        super().__init__()
        self.like = like


class Leaf(NamedTuple):
    """A leaf of a value: the object, and the tensor that goes through tf.cond, if it can."""

    value: Any
    tensor: Any


class BranchResult:
    """The values of names at the end of a branch.

    Args:
      branch: "main" or "else".
      names: The names.
      values: Their values.

    Raises:
      ValueError: A value is None.
    """

    def __init__(self, branch: str, names: Sequence[str], values: Sequence[Any]) -> None:
        self.branch = branch
        # Copies of lists and dicts, which the other branch may change.
        self.values = {
            name: value if is_undefined(value) else _nest.map_structure(_itself, value)
            for name, value in zip(names, values, strict=True)
        }
        self.leaves: dict[str, list[Leaf]] = {}
        for name, value in self.values.items():
            if value is None and not returns.is_return_value(name) and not stages_objects():
                raise none_at_end(name, branch)
            leaves = [] if is_undefined(value) else _nest.flatten(value)
            self.leaves[name] = [Leaf(leaf, to_tensor(leaf)) for leaf in leaves]

    def put(self, name: str, value: Any, leaves: list[Leaf]) -> None:
        """Gives a name another value."""
        self.values[name] = value
        self.leaves[name] = leaves

    def tensors(self) -> list[Any]:
        """What goes through tf.cond."""
        return [
            leaf.tensor
            for leaves in self.leaves.values()
            for leaf in leaves
            if leaf.tensor is not None
        ]


def _itself(value: Any) -> Any:
    return value


def none_at_end(name: str, branch: str) -> Exception:
    """The error of a name that is None at the end of a branch."""
    return with_more_it_may_do(ValueError(f"'{name}' is None at the end of the {branch} branch."))


class Outputs:
    """The outputs of a staged `if`: those of the main branch, then compared with the else branch's.

    Args:
      returned: By name, return values of the else branch whose types the main branch needs,
        because it gives none itself.
      forms: By name, the forms of values of the graph.
      form: Finds the form that a name needs, from its values in both branches; None if none does.
    """

    def __init__(
        self,
        returned: dict[str, Any],
        forms: dict[str, Any] | None = None,
        form: Callable[[str, Any, Any], Any] | None = None,
    ) -> None:
        self._returned = returned
        self._forms = forms or {}
        self._form = form
        self._main: BranchResult | None = None
        self._else: BranchResult | None = None
        self._missing: Exception | None = None  # if the function ends with what this `if` leaves

    def of_main(self, result: BranchResult) -> list[Any]:
        """Takes what the main branch leaves; returns its tensors."""
        self._convert(result)
        for name, like in self._returned.items():
            if is_undefined(result.values[name]):
                self._give_zeros(result, name, like)
        self._main = result
        return result.tensors()

    def _convert(self, result: BranchResult) -> None:
        """Gives names their forms."""
        for name, form in self._forms.items():
            value = form.convert(result.values[name])
            result.put(name, value, [Leaf(value, to_tensor(value))])

    def _give_zeros(self, result: BranchResult, name: str, like: Any) -> None:
        """Gives a branch that does not return zeros of the type of a value of the other branch."""
        error = returns.branch_without_return(result.branch, user_line())
        zeros = [zeros_like_type(to_tensor(leaf)) for leaf in _nest.flatten(like)]
        if any(zero is None for zero in zeros):
            raise error
        self._missing = error
        result.put(name, _nest.pack_sequence_as(like, zeros), [Leaf(z, z) for z in zeros])

    def of_else(self, result: BranchResult) -> list[Any]:
        """Takes what the else branch leaves; returns its tensors.

        Raises:
          ValueError: A name is unbound, or a return value missing, in one branch only.
          TypeError: Structures or dtypes differ, or an object is another.
          ReturnValueNeededError: Only this branch has a return value.
        """
        main = self._main
        assert main is not None, "the main branch is traced first"
        needed = {}
        self._convert(result)
        forms = self._needed_forms(main, result)
        if forms:
            raise FormsNeededError(forms)
        for name, value in result.values.items():
            of_main = main.values[name]
            if is_undefined(of_main) and is_undefined(value):
                continue
            if is_undefined(of_main) or is_undefined(value):
                branch = "main" if is_undefined(of_main) else "else"
                if not returns.is_return_value(name):
                    raise ValueError(f"'{name}' must also be initialized in the {branch} branch.")
                if branch == "main":
                    needed[name] = value
                    continue
                self._give_zeros(result, name, of_main)
            _check_agreement(name, main, result)
        if needed:
            raise ReturnValueNeededError(needed)
        self._else = result
        return result.tensors()

    def _needed_forms(self, main: BranchResult, other: BranchResult) -> dict[str, Any]:
        found: dict[str, Any] = {}
        if self._form is None:
            return found
        for name, value in other.values.items():
            if name in self._forms or returns.is_return_value(name):
                continue
            form = self._form(name, main.values[name], value)
            if form is not None:
                found[name] = form
        return found

    def packed(self, flat: Sequence[Any]) -> list[Any]:
        """Returns the values of the names after the `if`, around what tf.cond returned."""
        assert self._main is not None and self._else is not None
        outputs = iter(flat)
        values = []
        for name, value in self._main.values.items():
            if is_undefined(value):
                values.append(value)
                continue
            leaves = [
                leaf.value if leaf.tensor is None else next(outputs)
                for leaf in self._main.leaves[name]
            ]
            packed = _nest.pack_sequence_as(value, leaves)
            if returns.is_return_flag(name):
                packed = self._flag(value, self._else.values[name], packed)
            values.append(packed)
        return values

    def _flag(self, of_main: Any, of_else: Any, output: Any) -> Any:
        """Whether the function has returned, after the `if`."""
        if isinstance(of_main, bool) and of_main is of_else:
            return of_main
        missing = (
            self._missing or returns.missing_return(of_main) or returns.missing_return(of_else)
        )
        if missing is not None:
            returns.note_missing_return(output, missing)
        return output


def _check_agreement(name: str, main: BranchResult, other: BranchResult) -> None:
    """Raises unless a name has values of one type in both branches."""
    try:
        _nest.assert_same_structure(main.values[name], other.values[name])
    except (TypeError, ValueError) as error:
        raise with_more_it_may_do(
            TypeError(
                f"'{name}' must have the same nested structure in the main and else branches:\n\n"
                f"{error}"
            )
        ) from None
    for one, two in zip(main.leaves[name], other.leaves[name], strict=True):
        _check_leaves(name, one, two)


def _check_leaves(name: str, one: Leaf, two: Leaf) -> None:
    if one.tensor is not None and two.tensor is not None:
        of_main, of_else = dtype_of(one.tensor), dtype_of(two.tensor)
        if of_main != of_else and of_main is not None and of_else is not None:
            raise TypeError(
                f"'{name}' has dtype {of_main.name} in the main branch, but dtype "
                f"{of_else.name} in the else branch"
            )
        return
    if one.tensor is None and two.tensor is None and one.value is two.value:
        return
    for branch, leaf, another in (("main", one, two), ("else", two, one)):
        if leaf.value is None:
            if returns.is_return_value(name):
                raise none_at_end(name, branch)
            raise TypeError(
                f"'{name}' must have the same nested structure in the main and else branches: "
                f"it holds None in the {branch} branch, and {another.value!r} in the other."
            )
    for branch, leaf in (("main", one), ("else", two)):
        if leaf.tensor is None:
            raise TypeError(
                f"'{name}' is {leaf.value!r} of type {type_name(leaf.value)} at the end of the "
                f"{branch} branch, and another object at the end of the other. The branches of a "
                "staged `if` must return zero or more Tensors or ExtensionTypes or None values, "
                "and objects that both leave as they are."
            )


def agree(name: str, one: BranchResult, other: BranchResult) -> bool:
    """Tells whether a name has values of one type at the ends of both branches."""
    try:
        _check_agreement(name, one, other)
    except (TypeError, ValueError):
        return False
    return True
