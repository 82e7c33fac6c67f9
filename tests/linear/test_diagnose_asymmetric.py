"""What a diagnosis says of kernels whose arguments are not interchangeable."""

import re
import warnings

import numpy as np
import pytest
from laws.registry import late, late_gram
from scipy.stats import norm

import bochner
from bochner import KreinRidge, diagnose, kernels
from bochner.linear.feature_errors import HeldOutSplit, features_of

X = np.random.default_rng(0).normal(size=(60, 2))
TURN = np.array([[1.0, 0.5], [0.0, 1.0]])
ALPHA = 1e-3


def even(delta):
    return np.exp(-np.square(delta).sum(axis=-1))


def diagnosis(kernel, rows=X, **options):
    """A diagnosis that no warning accompanies."""
    with warnings.catch_warnings(action="error"):
        return diagnose(kernel, rows, **{"n_components": 64, "random_state": 0, **options})


MEASURES = {
    "shift": (kernels.ShiftGaussian(1.0, 0.5), "complex (polar)", "closed form"),
    "sinh": (kernels.SinhGaussian(1.0, 0.5), "complex (polar)", "closed form"),
    "cosh": (2.0 * kernels.CoshGaussian(1.0, 0.5), "complex (polar)", "closed form"),
    "lag": (kernels.Stationary(late), "complex (polar)", "numerical"),
    "even lag": (kernels.Stationary(even, symmetric=True), "positive", "numerical"),
    "mapped": (kernels.Bilinear(kernels.Gaussian(), np.eye(2), TURN), "two-sided", "closed form"),
    "mapped lag": (
        kernels.Bilinear(kernels.Stationary(late), TURN, TURN), "complex (polar)", "numerical"
    ),
    "sum": (kernels.Stationary(late) + kernels.Gaussian(), "complex (polar)", "combined"),
    "symmetrised": (kernels.ShiftGaussian(1.0, 0.5).symmetrised, "signed", "closed form"),
    "function": (late_gram, "", "none"),
}  # fmt: skip


@pytest.mark.thorough_cases("lag|sum")
@pytest.mark.parametrize(("kernel", "sign", "measure"), MEASURES.values(), ids=MEASURES)
def test_the_kind_of_measure(kernel, sign, measure):
    found = diagnosis(kernel)
    assert (found.features.sign, found.features.measure) == (sign, measure)
    assert found.features.positive == (sign == "positive" if sign else None)
    shown = f"measure {sign}, {measure}" if sign else "measure not known"
    assert shown in " ".join(str(found).split())


SIMPLEX = 0.8 * np.eye(6)


@pytest.mark.thorough
def test_the_sampled_error_is_that_of_ordered_pairs():
    # One frequency of a translation has weight one: E cos^2 is (1 + E cos of twice) / 2.
    kernel, n_seeds = kernels.ShiftGaussian(1.0, (0.7, 0.0, 0.0, 0.0, 0.0, -0.4)), 300
    exact = kernel(SIMPLEX)
    pairs = ~np.eye(6, dtype=bool)
    assert not np.allclose(exact, exact.T)
    split = HeldOutSplit(SIMPLEX, SIMPLEX, exact)
    square = [
        features_of(kernel, split, (1,), np.random.default_rng(seed)).errors[0].sampled_error ** 2
        for seed in range(n_seeds)
    ]
    delta = SIMPLEX[:, None] - SIMPLEX[None]
    doubled = np.exp(-0.5 * np.square(2.0 * (delta + kernel.shift)).sum(axis=-1))
    variance = 0.5 * (1.0 + doubled) - exact**2
    expected = variance[pairs].mean() / np.mean(exact[pairs] ** 2)
    z = (np.mean(square) - expected) / (np.std(square) / np.sqrt(n_seeds))
    assert abs(z) < norm.isf(ALPHA / 2)


def test_phases_are_fitted_to_either_order():
    rows = np.random.default_rng(1).uniform(size=(80, 2))
    for kernel in (kernels.SinhGaussian(1.0, 1.0), late_gram):
        (error,) = diagnosis(kernel, rows, n_components=256).features.errors
        # Without phases half of the asymmetry would be left, and all of it in the other order.
        exact = kernel(rows, rows)
        asymmetry = np.linalg.norm(exact - exact.T) / (2.0 * np.linalg.norm(exact))
        assert error.least_squares_error < 0.1 * asymmetry


def test_singular_values_are_those_of_the_exact_matrix():
    found = diagnosis(lambda A, B: A[:, :1] @ B[:, 1:].T - A[:, 1:] @ B[:, :1].T)
    # A matrix that is its own negative transpose: the symmetric part is nothing.
    assert found.asymmetry == pytest.approx(1.0)
    assert found.spectrum.effective_rank == 0.0
    assert found.singular_values.effective_rank == pytest.approx(2.0)
    assert found.singular_values.rank_99 == 2
    assert "2; 2 singular values make up 99 %" in " ".join(str(found).split())
    assert diagnosis(kernels.Gaussian()).singular_values is None


LOW_RANK = np.array([[1.0, 4.0], [0.0, 1.0]])
ADVICE = {
    "closed form": (kernels.ShiftGaussian(2.0, 0.5), "Asymmetric: FourierFeatures(kernel) returns"),
    "numerical": (
        kernels.Stationary(late),
        "KreinRidge takes symmetric kernels only: use kernel.sym",
    ),
    "two-sided": (MEASURES["mapped"][0], "AsymmetricKernelRidge(kernel) learns from rows"),
    "even": (kernels.Stationary(even), "Symmetric on these rows, but the kernel is not declared"),
    "function": (late_gram, 'FourierFeatures(kernel, weights="least_squares") returns features'),
    "low rank": (
        lambda A, B: 100.0 * A @ LOW_RANK @ B.T,
        "2 singular values make up 99 % of the spectrum: bochner.features.AsymmetricNystroem(",
    ),
}


@pytest.mark.thorough
@pytest.mark.filterwarnings("ignore:The features approximate the kernel badly")
@pytest.mark.filterwarnings("ignore:Least-squares weights were no better")
@pytest.mark.parametrize(("kernel", "words"), ADVICE.values(), ids=ADVICE)
def test_advice_names_what_exists_and_takes_the_kernel(kernel, words):
    options = {"n_components": 16} if "singular" in words else {}
    rows = 40.0 * X if options else X
    advice = diagnosis(kernel, rows, **options).advice
    assert words in advice
    calls = re.findall(r"([\w.]+)\((kernel[^()]*)\)", advice)
    assert "FourierFeatures" in {name for name, _ in calls}
    assert "AsymmetricKernelRidge(" in advice
    assert "AsymmetricPairRidge(" in advice
    for name, arguments in calls:
        path = name if name.startswith("bochner.") else f"bochner.{name}"
        model = eval(f"{path}({arguments})", {"bochner": bochner, "kernel": kernel})
        model.fit(rows, rows[:, 0], **({"right": rows} if "Pair" in name else {}))
    if "kernel.symmetrised" in advice and isinstance(kernel, kernels.Stationary):
        KreinRidge(kernel.symmetrised).fit(X, X[:, 0])
