"""Medians, ratios and their text."""

import math

import pytest

from benchmarks.summary import (
    best,
    differs,
    format_bytes,
    format_ratio,
    format_seconds,
    summarize,
)


def test_a_summary_is_the_median_and_the_range_of_the_rounds() -> None:
    summary = summarize([4.0, 1.0, 2.0])
    assert (summary.median, summary.low, summary.high) == (2.0, 1.0, 4.0)
    assert summary.spread == 1.5


def test_the_median_of_an_even_number_of_rounds_lies_between_the_middle_two() -> None:
    assert summarize([1.0, 2.0, 4.0, 100.0]).median == 3.0


@pytest.mark.parametrize("rounds", [[], [1.0, 0.0], [-1.0]])
def test_rounds_that_no_clock_measures_are_refused(rounds: list[float]) -> None:
    with pytest.raises(ValueError, match="round"):
        summarize(rounds)


def test_best_is_the_smallest_time() -> None:
    assert best([("a", 2.0), ("b", 1.0)]) == ("b", 1.0)
    assert best([]) is None


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (2.254, "2.25 s"),
        (0.0352, "35.2 ms"),
        (0.0009996, "1.00 ms"),
        (0.99999, "1.00 s"),
        (9.996e-6, "10.0 us"),
        (99.96e-6, "100 us"),
        (1.64e-4, "164 us"),
        (8.4e-8, "84.0 ns"),
        (2e-10, "0.20 ns"),
        (1234.0, "1234 s"),
    ],
)
def test_seconds_are_written_with_three_digits(seconds: float, text: str) -> None:
    assert format_seconds(seconds) == text


@pytest.mark.parametrize(
    ("ratio", "text"), [(0.267, "0.27 x"), (9.999, "10.0 x"), (12.34, "12.3 x"), (99.96, "100 x")]
)
def test_ratios_are_written_with_digits_to_compare(ratio: float, text: str) -> None:
    assert format_ratio(ratio) == text


def test_bytes_are_written_in_mebibytes_with_their_sign() -> None:
    assert format_bytes(39 << 20) == "+39 MiB"
    assert format_bytes(-(2 << 20)) == "-2 MiB"


def test_values_within_the_tolerance_agree() -> None:
    assert not differs([1000.5, 0.0], [1000.0, 1e-6], 1e-3)


@pytest.mark.parametrize(
    ("values", "reference"),
    [
        ([1000.0], [1002.0]),
        ([0.0], [1e-4]),
        ([1.0], [1.0, 2.0]),
        ([math.nan], [1.0]),
        ([math.nan], [math.nan]),
        ([math.inf], [math.inf]),
    ],
)
def test_values_beyond_the_tolerance_or_not_finite_differ(
    values: list[float], reference: list[float]
) -> None:
    assert differs(values, reference, 1e-3)
