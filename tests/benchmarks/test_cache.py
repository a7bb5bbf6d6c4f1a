"""Which calls `./dev bench cache` makes."""

from collections import Counter

from benchmarks import cache


def test_in_turn_each_type_is_called_equally_often() -> None:
    assert set(Counter(cache.in_turn(4000)).values()) == {200}
    assert cache.best_rate(cache.in_turn(4000)) == 0.5


def test_zipf_calls_the_first_rank_ten_times_as_often_as_the_tenth() -> None:
    counts = [count for _, count in Counter(cache.zipf(100_000, seed=1)).most_common()]
    assert 9 < counts[0] / counts[9] < 11


def test_nine_calls_in_ten_go_to_the_popular_types() -> None:
    types = cache.popular(10, 100_000, seed=1)
    assert 0.89 < sum(kind >= 10 for kind in types) / len(types) < 0.91
