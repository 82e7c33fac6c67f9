"""Whether chains that have not converged are told of, and others not."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
from learned.learned_fits import THREE, X, Y, classifier, regressor
from numpy.testing import assert_allclose
from sklearn.exceptions import ConvergenceWarning

from bochner import LearnedKernelRegressor
from bochner.learned import Chains
from bochner.learned.learned_kernel import Convergence
from bochner.learned.learned_kernel_fit import warn_of_convergence
from bochner.learned.trace import effective_sample_size, split_rhat

pytestmark = pytest.mark.thorough


def test_the_warning_points_at_the_users_line():
    with pytest.warns(ConvergenceWarning) as caught:
        classifier(n_samples=4, n_burn_in=0).fit(X, THREE)
    assert {warning.filename for warning in caught} == {__file__}
    assert len(caught) == 1


def test_the_diagnostics_are_those_of_predictions_and_log_evidence():
    model = regressor(n_chains=2, n_samples=12).fit(X, Y)
    learned = model.learned_[0]
    scaled = model._scaling.apply(X)
    found = Convergence.of(learned, scaled.T, model._trend.columns(scaled).T)
    draws = learned.draws
    values = np.stack(
        [
            draws.coef[i] @ draws.features(i, scaled.T, model._trend.columns(scaled).T)
            for i in range(24)
        ]
    ).reshape(2, 12, len(X))
    rhat = [split_rhat(values[:, :, row]) for row in range(len(X))]
    ess = [effective_sample_size(values[:, :, row]) for row in range(len(X))]
    assert_allclose(found.rhat_predictions, np.quantile(rhat, 0.9, method="higher"))
    assert_allclose(found.ess_predictions, np.median(ess))
    density = draws.log_density.reshape(2, 12)
    assert_allclose(found.rhat_log_evidence, split_rhat(density))
    assert_allclose(found.ess_log_evidence, effective_sample_size(density))
    # Chains lie one after the other: the trace has the same order.
    assert_allclose(learned.trace.kept("log_evidence"), density)


def test_the_worst_class_is_told_of():
    with warnings.catch_warnings(action="ignore", category=ConvergenceWarning):
        model = classifier(n_samples=20).fit(X, THREE)
    good = replace(model.convergence_[0], rhat_predictions=1.0, ess_predictions=100.0)
    for bad in ({"rhat_predictions": 1.5}, {"rhat_predictions": np.inf}, {"ess_predictions": 3.0}):
        unknown = replace(good, rhat_predictions=np.nan, ess_predictions=np.nan)
        with pytest.warns(ConvergenceWarning, match="chain has not converged"):
            warn_of_convergence([unknown, replace(good, **bad), good])
    with warnings.catch_warnings(action="error", category=ConvergenceWarning):
        warn_of_convergence([good, unknown])


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_step_sizes_are_adapted_to_moderate_acceptance():
    """Adapted the other way, steps shrink or grow until everything or nothing is accepted."""
    model = LearnedKernelRegressor(
        8,
        "dense",
        "hmc",
        random_state=0,
        chains=Chains(n_burn_in=120, n_samples=60, n_chains=1, thin=1),
    ).fit(X, Y)
    records = model.trace_.records
    for name, least, most in (("acceptance_hmc", 0.35, 0.95), ("acceptance_precision", 0.15, 0.75)):
        assert least < records[name][:, -60:].mean() < most, name
