"""Functions inside of converted functions: their options, and the names that they share."""

from typing import Any

import graven as tf
import pytest


def sets_first(x: Any) -> Any:
    x[0] = 9
    return x


def calls_inside(x: Any) -> Any:
    def inner(y: Any) -> Any:
        return sets_first(y)

    return inner(x)


def test_what_an_inner_function_calls_has_the_options_of_the_outer_one() -> None:
    lists = tf.autograph.experimental.Feature.LISTS
    f = tf.function(calls_inside, experimental_autograph_options=lists)
    assert f(tf.constant([1, 2])).numpy().tolist() == [9, 2]
    alone = tf.autograph.to_graph(
        calls_inside, recursive=False, experimental_optional_features=lists
    )
    with pytest.raises(TypeError, match="item assignment"):
        tf.function(alone, autograph=False)(tf.constant([1, 2]))
