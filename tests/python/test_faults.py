@pytest.mark.parametrize(
    "make",
    [
        lambda: tf.pad(tf.ones([2]), [[1 << 62, 1 << 62]]),
        lambda: tf.tile(tf.ones([2]), tf.constant([1 << 62], tf.int64)),
        lambda: tf.zeros([1 << 62]),
    ],
    ids=["pad", "tile", "zeros"],
)
def test_a_size_beyond_any_memory_is_refused(make):
    with pytest.raises((tf.errors.OpError, ValueError)):
        make()


def test_a_square_root_that_is_not_used_has_no_gradient_at_zero():
    x = tf.constant([0.0, 4.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.where(x > 0.0, tf.sqrt(x), 0.0 * x)
    assert tape.gradient(y, x).numpy().tolist() == [0.0, 0.25]


@pytest.mark.parametrize("axes", [[[9], [0]], [[0], [-3]]])
def test_tensordot_names_an_axis_out_of_range(axes):
    with pytest.raises(ValueError, match="axes"):
        tf.tensordot(tf.ones([2, 2]), tf.ones([2, 2]), axes)
