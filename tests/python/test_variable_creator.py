"""tf.variable_creator_scope: who makes a variable."""

import threading
from typing import Any

import graven as tf


def test_creators_are_asked_from_the_inside_out() -> None:
    asked: list[str] = []

    def creator(name: str) -> Any:
        def create(next_creator: Any, **kwargs: Any) -> Any:
            asked.append(name)
            return next_creator(**{**kwargs, "name": name + (kwargs["name"] or "")})

        return create

    with tf.variable_creator_scope(creator("outer_")), tf.variable_creator_scope(creator("inner_")):
        v = tf.Variable(1.0, name="v")
    assert asked == ["inner_", "outer_"]
    assert v.name == "outer_inner_v:0"
    assert tf.Variable(1.0, name="v").name == "v:0"


def test_a_creator_may_give_another_variable() -> None:
    own = tf.Variable(3.0)
    with tf.variable_creator_scope(lambda next_creator, **kwargs: own):
        assert tf.Variable(1.0) is own


def test_a_scope_is_left_when_a_creator_raises() -> None:
    def refuse(next_creator: Any, **kwargs: Any) -> Any:
        raise KeyError("no")

    try:
        with tf.variable_creator_scope(refuse):
            tf.Variable(1.0)
    except KeyError:
        pass
    assert tf.Variable(1.0).numpy() == 1.0


def test_a_scope_is_that_of_its_thread() -> None:
    made: list[Any] = []
    own = tf.Variable(3.0)
    with tf.variable_creator_scope(lambda next_creator, **kwargs: own):
        thread = threading.Thread(target=lambda: made.append(tf.Variable(1.0)))
        thread.start()
        thread.join()
    assert made[0] is not own
