"""Random programs mean the same run once for each way through them and run by Python."""

from __future__ import annotations

import random

import graven as tf
import pytest
from python.autograph.test_replay import sourceless

NAMES = ("x", "y", "z")


class Program:
    """A random program over scalars."""

    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)
        self._conditions = 0

    def text(self) -> str:
        lines = ["def f(x):", "    y = x * 2.0", "    z = 1.0 - x", *self._block(1, 3)]
        return "\n".join([*lines, f"    return {self._value()}, y, z"])

    def _value(self) -> str:
        one, two = self._random.choices(NAMES, k=2)
        return self._random.choice(
            [one, f"{one} + {two}", f"{one} * 0.5", f"{one} - 1.5", f"-{two}"]
        )

    def _condition(self) -> str:
        self._conditions += 1
        one, two = self._random.choices(NAMES, k=2)
        simple = f"{one} > {self._random.randint(-3, 3)}"
        return self._random.choice(
            [simple, simple, f"not {one} < {two}", f"{simple} and {two} < 2", f"0 < {one} < 3"]
        )

    def _block(self, depth: int, count: int) -> list[str]:
        lines = []
        for _ in range(self._random.randint(1, count)):
            lines += self._statement(depth)
        return lines

    def _statement(self, depth: int) -> list[str]:
        margin = "    " * depth
        kind = self._random.random()
        if kind < 0.45 or depth > 3 or self._conditions > 6:
            return [f"{margin}{self._random.choice(NAMES)} = {self._value()}"]
        if kind < 0.52:
            name = self._random.choice(NAMES)
            return [f"{margin}{name} = {name} if {self._condition()} else {self._value()}"]
        if kind < 0.6:
            lines = [f"{margin}for i in range(2):"]
            return [*lines, *self._block(depth + 1, 1)]
        lines = [f"{margin}if {self._condition()}:", *self._block(depth + 1, 2)]
        if self._random.random() < 0.15:
            lines.append(f"{margin}    return x, {self._value()}, z")
        if self._random.random() < 0.5:
            lines += [f"{margin}else:", *self._block(depth + 1, 2)]
        return lines


@pytest.mark.parametrize("seed", range(60))
def test_a_program_replayed_means_what_it_means_in_python(seed: int) -> None:
    text = Program(seed).text()
    f = sourceless(text)
    g = tf.function(f, autograph="replay")
    for value in (-4.0, -1.25, 0.25, 0.75, 1.75, 3.5):
        x = tf.constant(value)
        got, wanted = [float(v) for v in g(x)], [float(v) for v in f(x)]
        assert got == wanted, f"at {value}:\n{text}"
