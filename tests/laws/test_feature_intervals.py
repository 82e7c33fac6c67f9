"""Intervals of KreinRidge and of its BoTorch model cover functions of the kernel itself."""

import pytest
from laws import feature_interval_laws as laws

QUICK = [("matern52", 2, 0.05), ("gaussian", 5, 0.1), ("matern12", 2, 0.1)]
"""Intervals of the function at 90 % covered 10 to 50 % of these without check features."""


@pytest.mark.parametrize(("name", "d", "noise"), QUICK)
def test_intervals_contain_what_the_features_miss(name, d, noise):
    laws.check_intervals(name, d, noise)


def test_intervals_with_landmarks():
    laws.check_intervals(residual=60)


def test_intervals_of_a_learned_ratio():
    laws.check_intervals("matern32", alpha="evidence")


def test_functions_are_drawn_from_the_same_law():
    laws.check_functions()


def test_posteriors_of_botorch_have_the_same_coverage():
    pytest.importorskip("botorch")
    import torch

    from bochner.adapters.botorch import FeatureModel

    data = laws.draws("matern52", 2, 0.05, 300, 0, 60)
    ridge = laws.model("matern52", 0.05).fit(data.rows, data.y)
    posterior = FeatureModel(ridge).posterior(torch.as_tensor(data.new))
    std = posterior.variance.sqrt().detach().numpy()
    found = laws.coverages(posterior.mean.detach().numpy(), std, data.f_new)
    laws.check_coverage(found, 60)


@pytest.mark.thorough
@pytest.mark.parametrize("residual", [None, 200])
@pytest.mark.parametrize("p", [128, 512])
@pytest.mark.parametrize("noise", [0.05, 0.3])
@pytest.mark.parametrize("d", [1, 2, 5])
@pytest.mark.parametrize("name", laws.KERNELS)
def test_intervals_on_the_grid(name, d, noise, p, residual):
    laws.check_intervals(name, d, noise, 500, 3, p=p, residual=residual)


SMOOTH = 0.12
"""Error of the mean coverage of smooth functions with noise of a thousandth of the variance: their
intervals between rows depend on a few frequencies, which a draw of features may lack."""


@pytest.mark.thorough
@pytest.mark.parametrize("d", [2, 5])
@pytest.mark.parametrize("name", laws.KERNELS)
def test_intervals_with_little_noise(name, d):
    laws.check_intervals(name, d, 0.001, 500, 3, SMOOTH, residual=200)


@pytest.mark.thorough
@pytest.mark.parametrize("n", [2000, 5000])
def test_intervals_of_many_rows(n):
    laws.check_intervals("matern52", 2, 0.05, n, 2, p=512)


@pytest.mark.thorough
@pytest.mark.parametrize("name", ["matern32", "laplacian", "sum"])
@pytest.mark.parametrize("noise", [0.05, 0.3])
def test_intervals_of_learned_ratios(name, noise):
    laws.check_intervals(name, 2, noise, 500, 3, alpha="evidence", p=512)


@pytest.mark.thorough
def test_intervals_of_many_functions():
    for name, d in (("gaussian", 2), ("exponential", 5)):
        laws.check_functions(name, d, 0.05, 400)
