"""Later stretches of time: predictions from earlier rows only, and what few stretches determine."""

from unittest.mock import patch

import numpy as np
from numpy.testing import assert_allclose
from scipy.optimize import minimize_scalar
from scipy.special import expit
from scipy.stats import norm, t
from tables.test_sum_of_laws import fitted

from bochner.tables import weighted_sum
from bochner.tables.kernel_laws import KernelLaw
from bochner.tables.later_stretches import effective_number, fit_averaged, fit_over_stretches
from bochner.tables.level_means import Removal
from bochner.tables.weighted_sum import SumOfLaws


def over_time(n=100):
    """Return the base models of a table with times, with the table and its removal."""
    rng = np.random.default_rng(3)
    X = np.column_stack((np.arange(n) / n, rng.normal(size=n)))
    y = X[:, 1] + np.repeat(rng.normal(size=n // 10), 10) + 0.3 * rng.normal(size=n)
    removal = Removal.of_times(np.arange(n))
    judged, model = fitted(X, y - y.mean(), groups=removal.groups, removal=removal)
    return judged, model, X, y - y.mean(), removal


def test_stretches_are_predicted_from_the_rows_before_them():
    """Each stretch has the predictions of a Gaussian process of the rows before it."""
    judged, _, X, y, removal = over_time()
    assert set(judged.scored) == set(np.flatnonzero(removal.stretches > 0))
    assert len(np.unique(judged.groups)) == 3
    laws = [law for law in judged.laws.members if isinstance(law, KernelLaw)]
    assert len(laws) == len(judged.laws.members)
    for k, law in enumerate(laws):
        squares, relative = np.empty(len(y)), np.empty(len(y))
        for number in (1, 2, 3):
            before, new = removal.stretches < number, np.flatnonzero(removal.stretches == number)
            kernel, columns = law.found, law.columns
            old = X[before][:, columns]
            gram = kernel(old, old) + kernel.alpha * np.eye(before.sum())
            cross, centre = kernel(X[new][:, columns], old), y[before].mean()
            mean = centre + cross @ np.linalg.solve(gram, y[before] - centre)
            explained = np.sum(cross * np.linalg.solve(gram, cross.T).T, axis=1)
            squares[new], relative[new] = (y[new] - mean) ** 2, 1.0 + kernel.alpha - explained
            places = np.flatnonzero(np.isin(judged.scored, new))
            assert_allclose(judged.means[places, k, 0], mean[judged.scored[places] - new[0]])
        signal = np.mean((squares / relative)[judged.scored])
        assert_allclose(law.signal, signal, rtol=1e-6)
        assert_allclose(judged.variances[:, k, 0], signal * relative[judged.scored], rtol=1e-6)


def test_errors_that_are_shared_count_once():
    rng, times = np.random.default_rng(0), np.arange(240)
    stretches = times // 80
    levels = np.repeat(rng.normal(size=12), 20)[:, None]
    assert 240 / 5 < effective_number(rng.normal(size=(240, 1)), stretches, times) <= 240
    assert 3 <= effective_number(levels, stretches, times) <= 12
    assert effective_number(np.zeros((240, 2)), stretches, times) == 240
    # What a whole stretch shares leaves as many errors as stretches, in any order of the rows.
    order = rng.permutation(240)
    opposite = np.resize([1.0, -1.0], 12).repeat(20)[:, None]  # Twelve levels that cancel
    assert_allclose(effective_number(opposite[order], stretches[order], times[order]), 12.0)
    shared = np.array([1.0, -2.0, 0.5])[stretches][:, None]
    assert_allclose(effective_number(shared[order], stretches[order], times[order]), 3.0)


def test_few_independent_scores_widen_intervals():
    """Scores have the quantile of Student's t in place of the normal one."""
    judged, model, _, y, _ = over_time()
    mean, std = SumOfLaws.with_left_out(judged, y, np.ones(len(y)))[1]
    plain = (y[judged.scored] - mean) / std
    free = effective_number(plain[:, None], judged.groups, judged.times)
    assert 3 < free < 20  # Six levels of ten rows, in part known
    assert_allclose(model.scores / plain, t.ppf(0.95, free - 1.0) / norm.ppf(0.95))
    assert_allclose(model.left_out_rmse, np.sqrt(np.mean((plain * std) ** 2)))


def test_widths_of_later_rows_are_fitted_to_stretches():
    judged, _, _, y, _ = over_time()
    with patch.object(weighted_sum, "fitted_widths", wraps=weighted_sum.fitted_widths) as fit:
        SumOfLaws.with_left_out(judged, y, np.ones(len(y)))
    assert fit.call_args.kwargs == {"are_stretches": True}


def test_probabilities_are_averages_over_what_constants_may_be():
    """Probabilities are averages over the normal approximation of a constant's posterior."""
    labels, scores = np.r_[np.ones(9, dtype=int), np.zeros(3, dtype=int)], np.zeros((12, 1, 2))
    for weight in (0.25, 1.0, 1e4):
        averaged = fit_averaged(scores, labels, np.full(12, weight)).probabilities(scores[:1])

        def loss(logit, weight=weight):
            # Two constants of variance 10 each: their difference has variance 20.
            return logit**2 / 40.0 - weight * (9 * np.log(expit(logit)) + 3 * np.log(expit(-logit)))

        best = minimize_scalar(loss, bounds=(-5.0, 5.0), options={"xatol": 1e-9}).x
        curvature = 0.05 + 12 * weight * expit(best) * expit(-best)
        draws = best + np.linspace(-6.0, 6.0, 2001) / np.sqrt(curvature)
        density = norm.pdf(np.linspace(-6.0, 6.0, 2001))
        expected = np.sum(density * expit(draws)) / density.sum()
        assert_allclose(averaged[0, 1], expected, atol=0.01)


def test_constants_of_classes_do_not_know_the_stretch():
    """Labels that only their stretch determines are not better known than by their entropy."""
    rng, times, weight = np.random.default_rng(1), np.arange(300), np.ones(300)
    stretches, losses = times // 100, []
    for _ in range(6):
        labels = (rng.random(300) < 0.1 + 0.8 * rng.integers(2, size=15)[times // 20]).astype(int)
        scores = rng.normal(size=(300, 1, 1)) * np.array([-1.0, 1.0])
        _, left_out = fit_over_stretches(scores, labels, weight, stretches, times)
        losses.append(-np.mean(np.log(left_out)))
    assert np.log(2.0) - 0.02 < np.mean(losses) < np.log(2.0) + 0.1
