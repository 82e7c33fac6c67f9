"""What holds at an end of a range and what begins beyond it, and laws of weights, without a fit."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from laws.likelihood_laws import INSTANCES
from numpy.testing import assert_allclose
from scipy.stats import binom, norm

from bochner.cli.output import Activity
from bochner.cli.screen import share_tables
from bochner.comparison.outcomes import Outcome, by_kind, calibrated_range, coverage_of
from bochner.comparison.split import split_rows
from bochner.comparison.verdict import difference
from bochner.features.chunks import Chunk, Indicators, Numbers
from bochner.features.parameters import count_frequencies
from bochner.features.row_sums import chunk_sums, feature_sums
from bochner.files.columns import read_column
from bochner.files.identifiers import may_identify
from bochner.files.local_dates import LocalDates, number_times
from bochner.gaussian_process import StudentTLikelihood
from bochner.kernels import Matern
from bochner.series.fitted_series import _check_lengths
from bochner.series.rolling_origins import _origins, symmetric_errors
from bochner.series.series_rows import learned_rows
from bochner.series.value_transformations import PredictiveMixture, are_mostly_zero, candidates
from bochner.spectral.frequencies import Frequencies
from bochner.tables.encodings import codes_of, fit_state, standard_knots
from bochner.tables.level_means import target_columns
from bochner.tables.sensitivity import VarianceShares


def refused(function, *arguments):
    """Return whether arguments are refused."""
    try:
        function(*arguments)
    except ValueError:
        return True
    return False


def names(values):
    return candidates(np.array(values))


def series(n):
    return SimpleNamespace(times=np.arange(float(n)), timeline=SimpleNamespace(kind="steps"))


def classes(counts, stated=0.5):
    """Return an outcome of classes a, b, ... of given numbers of rows."""
    y = np.repeat(list("abcdef")[: len(counts)], counts)
    probability = np.full((len(y), len(counts)), stated)
    return Outcome(y, y, probability=probability, classes=np.unique(y))


def state(texts, max_levels):
    return fit_state(read_column("x", np.array(texts, dtype=object)), None, max_levels)


def dates(*days):
    times = np.array(days, dtype="datetime64[us]")
    return LocalDates({"dayfirst": times}, np.zeros(len(times), "timedelta64[m]"))


DAYS = [f"2024-01-0{day}" for day in range(1, 7)]
NUMBERS = np.arange(40)

ENDS = {
    "half of the values are zero": (lambda: are_mostly_zero(np.array([0.0, 0.0, 1.0, 2.0])), False),
    "more than half are zero": (lambda: are_mostly_zero(np.array([0.0, 0.0, 1.0])), True),
    "one zero is no floor": (lambda: "floor" in names([0.0, 1.0, 5.0]), False),
    "two zeros are a floor": (lambda: "floor" in names([0.0, 0.0, 5.0]), True),
    "a ratio of 1.25 is compared": (lambda: names([1.0, 1.25]), ["none", "sqrt", "log"]),
    "a smaller ratio is linear": (lambda: names([1.0, 1.24]), ["none"]),
    "a last unknown value": (lambda: learned_rows(np.array([1.0, 2.0, np.nan])), slice(0, 2)),
    "a period of the whole series": (lambda: refused(_check_lengths, [9.0], series(10)), False),
    "a longer period": (lambda: refused(_check_lengths, [9.1], series(10)), True),
    "eight values before an origin": (lambda: _origins(12, 2, 2, 2), [8, 10]),
    "seven values": (lambda: refused(_origins, 11, 2, 2, 2), True),
    "errors of a third": (lambda: symmetric_errors(np.array([1.0]), np.array([2.0]))[0], 200 / 3),
    "a class of nine tenths": (lambda: classes([90, 10]).rare, None),
    "a class of more": (lambda: classes([91, 9]).rare.name, "b"),
    "a tenth of 91 rows is ten": (lambda: classes([85, 6]).rare.hits()[0], 10),
    "a tenth of 100 rows is ten": (lambda: classes([91, 9]).rare.hits()[0], 10),
    "rows that are all unlike": (
        lambda: list(by_kind(classes([2, 1]), {"missing": np.ones(3, bool)})),
        ["missing"],
    ),
    "some are like": (lambda: len(by_kind(classes([2, 1]), {"later": np.arange(3) > 1})), 2),
    "one row of a class is fitted": (
        lambda: (
            split_rows(
                pd.DataFrame({"x": NUMBERS}),
                pd.Series(["c", *"ab" * 19, "a"]),
                "classification",
                0.2,
                0,
            )
            .y_test.tolist()
            .count("c")
        ),
        0,
    ),
    "nineteen in twenty are names": (
        lambda: may_identify("id", np.append(NUMBERS[2:], [9, 8])),
        True,
    ),
    "gaps are no rows": (lambda: may_identify("id", np.append(NUMBERS, [np.nan] * 9)), True),
    "fewer are not": (lambda: may_identify("id", np.append(NUMBERS[3:], [9, 8, 7])), False),
    "the last day": (lambda: np.isnat(number_times(np.array([21001231]), "yyyymmdd"))[0], False),
    "five dates rise": (lambda: dates(*DAYS[:5]).rising(), ["dayfirst"]),
    "four do not": (lambda: dates(*DAYS[:4]).rising(), []),
    "one feature": (lambda: count_frequencies(1), 1),
    "eight features": (lambda: count_frequencies(8), 4),
    "two degrees of freedom": (lambda: StudentTLikelihood(2.0, 1.0).noise_variance, np.inf),
    "three": (lambda: StudentTLikelihood(3.0, 2.0).noise_variance, 12.0),
    "two classes have one column": (
        lambda: target_columns(["a", "b", "b"]).tolist(),
        [[0], [1], [1]],
    ),
    "three have three": (lambda: target_columns(["a", "b", "c"]).tolist(), np.eye(3).tolist()),
    "the second of two classes": (
        lambda: Indicators(np.array(["a", "b"]))(np.array(["b", "a"])).tolist(),
        [[1.0], [-1.0]],
    ),
    "hardly a degree": (lambda: StudentTLikelihood(0.01, 1.0).noise_variances()[1].sum(), 1.0),
    "the smoothest kernel": (lambda: Matern(1.0, nu=1e8)([[0.0]], [[1.0]])[0, 0], np.exp(-0.5)),
    "half of the texts differ": (lambda: state(list("aabbccddee"), 3)["kind"], "text"),
    "more differ": (lambda: state(list("aabbccddef"), 3)["kind"], "identifier"),
    "as many levels as fit": (lambda: state(list("abc") * 3, 3)["n_rare"], 0),
    "one level more": (lambda: state(list("abcdabcab"), 3)["n_rare"], 1),
    "ties go to the first letters": (lambda: state(list("dcba") * 3, 2)["levels"], ["a", "b"]),
    "gaps have the median": (
        lambda: fit_state(
            read_column("x", np.array([0.0, 1.0, 8.0, np.nan])), lambda v: standard_knots(v, 4.0), 9
        )["fill"],
        1.0,
    ),
    "an unknown level": (
        lambda: codes_of(np.array(["b", "x", None]), ["a", "b"]).tolist(),
        [1, 2, 2],
    ),
}


@pytest.mark.parametrize("name", ENDS)
def test_ends_belong_to_their_range(name):
    function, right = ENDS[name]
    value = function()
    assert value == pytest.approx(right) if isinstance(right, float) else value == right


@pytest.mark.parametrize("name", INSTANCES)
def test_counts_of_rows_start_likelihoods_like_repeated_rows(name):
    law = INSTANCES[name].law
    unknown = replace(law, **dict.fromkeys(law.learnable))
    targets = INSTANCES[name].targets
    y = np.array([targets[i % len(targets)] for i in (0, 1, 2, 1, 0, 2)])
    y = y + np.arange(6.0) * (name in ("gaussian", "student"))
    counts, exposure = np.array([1, 4, 2, 1, 3, 1]), np.linspace(0.5, 3.0, 6)
    for each in (law, unknown):
        arguments = [(part, np.repeat(part, counts)) for part in (y, exposure)]
        few, many = zip(*arguments, strict=True)
        few, many = (*few, counts.astype(float)), (*many, np.ones(12))
        assert each.origin(*few) == pytest.approx(each.origin(*many))
        starts = [each.started(*rows) for rows in (few, many)]
        for parameter in law.learnable:
            assert_allclose(*(getattr(start, parameter) for start in starts))


def test_mixtures_of_values_have_spreads_and_floors():
    mixture = PredictiveMixture(np.array([[2.0]]), np.array([[0.25]]), np.ones(1), "sqrt")
    # Squares of normal values have the variance 2 s⁴ + 4 m² s²; the law ends before its last 1e-4.
    assert_allclose(mixture.std(), np.sqrt(2.0 * 0.5**4 + 4.0 * 2.0**2 * 0.5**2), rtol=1e-3)
    assert_allclose(mixture.log_density(np.array([4.0])), norm.logpdf(2.0, 2.0, 0.5) - np.log(4.0))
    assert_allclose(mixture.log_density(np.array([0.0])), norm.logcdf(0.0, 2.0, 0.5))


def test_ages_multiply_weights_and_repeats():
    rows = Chunk(np.ones((3, 1)), np.ones(3), np.array([2.0, 6.0, 1.0]), np.array([1.0, 3.0, 2.0]))
    aged = rows.aged(0.5)
    assert aged.weight.tolist() == [0.5, 3.0, 1.0]
    assert aged.repeats.tolist() == [0.25, 1.5, 2.0]
    assert_allclose(aged.row_weights, rows.row_weights)
    assert rows.weight_rms == pytest.approx(np.sqrt(41.0 / 3.0))
    precise = replace(rows, are_precisions=True)
    assert (rows + precise).are_precisions
    assert (rows.n_fractional, precise.n_fractional) == (1, 3)
    assert rows.units.n_observations == pytest.approx(6.0)
    counts = replace(rows, weight=2.0 * rows.repeats)
    assert counts.units.counts.tolist() == [2.0, 6.0, 4.0]


def test_sums_of_weighted_rows_count_repeated_rows():
    F = Frequencies(np.ones((2, 1)), np.ones(2))
    X, Y, weight = np.arange(3.0)[:, None], np.arange(3.0)[:, None], np.array([0.5, 2.0, 1.5])
    sums = feature_sums(F, X, Y, weight)
    assert_allclose(sums.targets, weight @ Y)
    assert (sums.n_observations, sums.log_precision) == pytest.approx((3.0, np.log(1.5)))
    twice = Chunk(X, Y, 2.0 * weight, np.full(3, 2.0), are_precisions=True)
    found = chunk_sums([twice], F, Numbers(np.zeros(1))).log_precision
    assert found == pytest.approx(2.0 * np.log(1.5))


def test_differences_are_corrected_for_the_best_of_several():
    rng = np.random.default_rng(0)
    y, ours, theirs = rng.normal(size=(3, 80))
    one, many = (difference(Outcome(y, ours), "b", Outcome(y, theirs), k) for k in (1, 5))
    ratio = np.sqrt(np.mean((y - ours) ** 2) / np.mean((y - theirs) ** 2))
    assert one.ratio == pytest.approx(ratio)
    widths = [np.log(each.upper / each.lower) for each in (one, many)]
    z = norm.isf(norm.sf(2.0) / np.array([1, 5]))
    assert widths[1] / widths[0] == pytest.approx(z[1] / z[0])


def test_ranges_of_coverage_count_comparisons_and_clusters():
    low, high = calibrated_range(100, 0.9, 5)
    assert (low, high) == pytest.approx(np.array(binom.interval(0.99, 100, 0.9)) / 100)
    covered, clusters = np.arange(100) % 10 > 0, np.arange(100) // 50
    alone, some = coverage_of(covered, 0.9), coverage_of(np.sort(covered), 0.9, clusters)
    assert alone.upper - alone.lower < some.upper - some.lower
    together = coverage_of(clusters > 0, 0.9, clusters)
    two = np.array(binom.interval(0.95, 2, 0.9)) / 2
    assert (together.lower, together.upper) == pytest.approx(two)


def test_a_last_column_is_listed_and_more_are_counted():
    def listed(n):
        share = np.array([0.5, *[1e-6] * (n - 1)])
        (table,) = share_tables(VarianceShares(tuple("abcdefghij"[:n]), share, share), None)
        return list(table.columns[0].cells)[-1].plain

    assert [listed(n) for n in range(2, 7)] == ["b", "c", "d", "2 more", "3 more"]


def test_the_time_left_is_that_of_the_steps_left():
    clock = iter([0.0, 10.0, 10.0, 10.0]).__next__
    activity = Activity(clock=clock)
    activity.note(SimpleNamespace(step=2, total=10, stage="x"))
    assert "about 40 s left" in str(activity)
