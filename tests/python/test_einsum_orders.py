"""The orders in which einsum multiplies several tensors: as few multiplications as there can be."""

import math
import random
from collections.abc import Mapping, Sequence
from functools import cache

import graven as tf
import pytest

Term = frozenset[str]


def equations_of(equation: str, sizes: Mapping[str, int | None]) -> list[str]:
    """The equations of the pairs that the tensors of an einsum are multiplied in."""
    inputs = equation.partition("->")[0].split(",")
    specs = [tf.TensorSpec([sizes[label] for label in labels]) for labels in inputs]
    traced = tf.function(lambda *x: tf.einsum(equation, *x)).get_concrete_function(*specs)
    return [
        op.get_attr("equation").decode()
        for op in traced.graph.get_operations()
        if op.type == "Einsum"
    ]


def multiplications(a: Term, b: Term, kept: Term, sizes: dict[str, int]) -> int:
    """How many a pair takes, as what only one of it has and nobody needs is summed before."""
    return math.prod(sizes[label] for label in (a & b) | kept)


def cost_of(equations: Sequence[str], sizes: dict[str, int]) -> int:
    """How many multiplications pairs take."""
    cost = 0
    for equation in equations:
        inputs, _, output = equation.partition("->")
        a, b = map(frozenset, inputs.split(","))
        cost += multiplications(a, b, frozenset(output), sizes)
    return cost


def least_cost(equation: str, sizes: dict[str, int]) -> int:
    """The least of all orders, by trying them."""
    inputs, _, output = equation.partition("->")

    @cache
    def least(terms: tuple[Term, ...]) -> int:
        if len(terms) == 1:
            return 0
        costs = []
        for j in range(len(terms)):
            for i in range(j):
                rest = terms[:i] + terms[i + 1 : j] + terms[j + 1 :]
                kept = (terms[i] | terms[j]) & frozenset(output).union(*rest)
                costs.append(
                    multiplications(terms[i], terms[j], kept, sizes) + least((*rest, kept))
                )
        return min(costs)

    return least(tuple(frozenset(labels) for labels in inputs.split(",")))


@pytest.mark.parametrize("seed", range(20))
def test_few_tensors_take_as_few_multiplications_as_there_can_be(seed: int) -> None:
    draw = random.Random(seed)
    sizes = {label: draw.choice([2, 3, 5, 7, 11]) for label in "abcdef"}
    inputs = ["".join(draw.sample("abcdef", draw.randint(1, 3))) for _ in range(3 + seed % 4)]
    there = sorted(set("".join(inputs)))
    equation = f"{','.join(inputs)}->{''.join(draw.sample(there, draw.randint(0, 2)))}"
    equations = equations_of(equation, sizes)
    assert len(equations) == len(inputs) - 1
    assert cost_of(equations, sizes) == least_cost(equation, sizes)


@pytest.mark.parametrize("at", [0, 3, 8])
def test_a_long_chain_of_matrices_begins_at_its_vector(at: int) -> None:
    """Of many tensors those two come first whose product is the smallest."""
    labels = "abcdefghij"
    matrices = [labels[i : i + 2] for i in range(9)]
    # The vector stands at the end of the chain, and anywhere in the equation.
    inputs = [*matrices[:at], "j", *matrices[at:]]
    equations = equations_of(f"{','.join(inputs)}->a", dict.fromkeys(labels, 10))
    assert cost_of(equations, dict.fromkeys(labels, 10)) == 9 * 10**2


def test_the_smallest_of_many_products_comes_first() -> None:
    sizes = dict(zip("abcdefgh", [9, 8, 7, 6, 2, 2, 7, 9], strict=True))
    assert equations_of("ab,bc,cd,de,ef,fg,gh->ah", sizes)[0] == "de,ef->df"
    assert equations_of("gh,de,ab,ef,fg,bc,cd->ah", sizes)[0] == "de,ef->df"


def test_sizes_that_are_not_known_count_as_medium_ones() -> None:
    sizes: dict[str, int | None] = {"i": 1000, "j": None, "k": 2}
    assert equations_of("ij,jk,kl->il", {**sizes, "l": 1000})[0] in ("ij,jk->ik", "ij,jk->ki")
    assert equations_of("ij,jk,kl->il", {**sizes, "k": 1000, "l": 2})[0] == "jk,kl->jl"
