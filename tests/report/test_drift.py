"""Mean residuals over bins of a column, and the test of their equality."""

from types import SimpleNamespace

import numpy as np
import pytest
from scipy.stats import f_oneway, kstest, sem, ttest_1samp

from bochner.files.columns import read_column
from bochner.report.residual_section import drift, drifts


def of(values, residuals, clusters=None):
    return drift(read_column("x", values), residuals, clusters)


@pytest.mark.thorough
def test_p_values_are_uniform_if_nothing_depends_on_the_column():
    rng = np.random.default_rng(0)
    found = []
    for _ in range(400):
        x = rng.normal(size=300)
        # Errors of unequal variance, as those of predictions often are
        found.append(of(x, rng.standard_t(5, size=300) * (1.0 + np.abs(x))).p_value)
    assert kstest(found, "uniform").pvalue > 1e-3


@pytest.mark.thorough
def test_dependent_rows_raise_no_false_alarms():
    """Clusters of rows count as one each: p-values of few clusters are on the safe side."""
    rng = np.random.default_rng(1)
    clusters = np.repeat(np.arange(60), 6)
    found, naive, drifting = [], [], []
    for _ in range(200):
        x = rng.normal(size=60)[clusters] + 0.1 * rng.normal(size=360)
        errors = rng.normal(size=60)[clusters] + 0.5 * rng.normal(size=360)
        found.append(of(x, errors, clusters).p_value)
        naive.append(of(x, errors).p_value)
        drifting.append(of(x, errors + 2.0 * x, clusters).p_value)
    below = [np.mean(np.array(part) < 0.05) for part in (found, naive, drifting)]
    assert below[0] < 0.1
    assert below[1] > 0.4  # Without clusters the test would be wrong
    assert below[2] > 0.9


def test_of_two_bins_it_is_a_t_test_of_clusters():
    """A t-test of the shares of clusters in the covariance, for which three clusters suffice."""
    rng = np.random.default_rng(7)
    levels = np.where(np.arange(60) % 2, "a", "b")
    residuals = rng.normal(size=60) + 0.5 * (levels == "a")
    of_rows = ((levels == "a") - 0.5) * (residuals - residuals.mean())
    for parts, found in (
        (of_rows, of(levels, residuals)),
        *(
            (np.bincount(clusters, of_rows), of(levels, residuals, clusters))
            for clusters in (np.arange(60) // 4, np.arange(60) // 20)
        ),
    ):
        assert found.p_value == pytest.approx(ttest_1samp(parts, 0.0).pvalue, rel=1e-9)
    assert of(levels, residuals, np.arange(60) // 30).p_value == 1.0


@pytest.mark.thorough
def test_few_clusters_show_a_strong_drift():
    """A strong drift over 24 clusters is certain; without one, alarms are as rare as they say."""
    rng, clusters = np.random.default_rng(8), np.repeat(np.arange(24), 30)
    found = []
    for _ in range(300):
        errors = 0.7 * rng.normal(size=24)[clusters] + rng.normal(size=720)
        found.append(of(rng.normal(size=720), errors, clusters).p_value)
    assert 0.01 < np.mean(np.array(found) < 0.05) < 0.09
    assert np.mean(np.array(found) < 0.5) > 0.4
    x = rng.normal(size=720)
    assert of(x, 2.0 * x + rng.normal(size=720), clusters).is_certain(10)


def test_the_statistic_is_that_of_an_analysis_of_variance():
    """For rows of equal variance both agree; the share is that between the bins."""
    rng = np.random.default_rng(2)
    levels = rng.choice(list("abcd"), 4000)
    residuals = rng.normal(size=4000) + 0.1 * (levels == "a")
    found = of(levels, residuals)
    parts = [residuals[levels == level] for level in "abcd"]
    assert np.log(found.p_value) == pytest.approx(np.log(f_oneway(*parts).pvalue), rel=0.1)
    total = np.sum((residuals - residuals.mean()) ** 2)
    between = sum(len(p) * (p.mean() - residuals.mean()) ** 2 for p in parts)
    assert found.share == pytest.approx(between / total)
    for label, mean, error in zip(found.labels, found.mean, found.std_error, strict=True):
        part = residuals[levels == label]
        assert mean == pytest.approx(part.mean())
        assert error == pytest.approx(part.std() / np.sqrt(len(part)), rel=1e-3)


def test_many_rows_do_not_make_little_matter():
    rng = np.random.default_rng(4)
    x = rng.integers(0, 2, 200_000).astype(float)
    found = of(x, rng.normal(size=200_000) + 0.04 * x)
    assert found.p_value < 1e-10
    assert not found.is_certain(1)


@pytest.mark.parametrize(
    ("values", "counts"),
    [
        (np.r_[np.zeros(500), np.arange(1.0, 501.0)], None),
        (np.repeat([1.0, 2.0, 3.0], [30, 900, 70]), {"1": 30, "2": 900, "3": 70}),
        (np.repeat([1.0, 2.0, 3.0], [3, 900, 97]), {"2": 900, "3": 97}),
        (np.r_[np.full(40, np.nan), np.repeat([0.0, 1.0], 480)],
         {"0": 480, "1": 480, "missing": 40}),
        (np.repeat(["a", "b", "c", "d"], [500, 470, 15, 15]),
         {"a": 500, "b": 470, "other levels": 30}),
        (np.repeat(["a", "b", "c"], [500, 490, 10]), {"a": 500, "b": 490}),
    ],
    ids=["half zero", "few values", "a rare one", "missing", "rare levels", "too rare a level"],
)  # fmt: skip
def test_bins_have_enough_rows(values, counts):
    found = of(values, np.random.default_rng(5).normal(size=len(values)))
    assert min(found.count) >= 25
    assert 2 <= len(found.labels) <= 9
    if counts is not None:
        assert dict(zip(found.labels, found.count.tolist(), strict=True)) == counts


def test_errors_of_few_clusters_are_those_of_their_means():
    """Each of four clusters has its rows in both bins: means of clusters are independent."""
    rng = np.random.default_rng(7)
    of_cluster = rng.normal(size=(4, 2))
    residuals = np.repeat(of_cluster, 30, axis=0) + 0.1 * rng.normal(size=(120, 2))
    found = of(
        np.repeat([["a", "b"]], 120, axis=0).ravel(), residuals.ravel(), np.repeat(np.arange(4), 60)
    )
    means = residuals.reshape(4, 30, 2).mean(axis=1)
    np.testing.assert_allclose(found.std_error, sem(means, axis=0), rtol=1e-9)


def test_tests_of_a_report_count_its_groups():
    """The tests of a report count the groups of its rows."""
    rng, clusters = np.random.default_rng(11), np.arange(300) // 20
    x = rng.normal(size=15)[clusters]
    residuals = rng.normal(size=15)[clusters] + 0.1 * rng.normal(size=300)
    columns = {"x": read_column("x", x)}
    study = SimpleNamespace(own=SimpleNamespace(clusters=clusters), is_classification=False)
    subject = SimpleNamespace(
        time_columns=[], important=["x"], columns=columns, study=study, residuals=residuals
    )
    (found,) = drifts(subject)
    assert found.p_value == of(x, residuals, clusters).p_value > 1e3 * of(x, residuals).p_value


def test_bins_without_a_hit_have_the_error_of_their_probability():
    column = read_column("x", np.repeat(["a", "b"], 30))
    found = drift(column, np.repeat([-0.1, -0.2], 30), are_classes=True)
    assert found.std_error == pytest.approx(np.sqrt(np.array([0.1 * 0.9, 0.2 * 0.8]) / 30))
