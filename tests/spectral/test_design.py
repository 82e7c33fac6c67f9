"""Designed measures."""

from functools import partial

import numpy as np
import pytest
from laws import design_laws
from laws.design_laws import CASES, FEW, has_far_rows
from numpy.testing import assert_allclose

from bochner.kernels import (
    NTK,
    TL1,
    DeltaGaussian,
    DotProduct,
    Gaussian,
    Hellinger,
    Metric,
    Polynomial,
    Radial,
)
from bochner.spectral.design import broad_proposal, designed_measure
from bochner.spectral.profiles import Geometry, Pairs, profile

SLOW = pytest.mark.slow
EVERY = [pytest.param(case, marks=() if case in FEW else SLOW, id=str(case)) for case in CASES]
RNG = np.random.default_rng(0)
X = RNG.normal(size=(50, 3)) / 2.0


def pairs_of(kernel, rows):
    return Pairs.of_rows(rows, profile(kernel).metric, np.random.default_rng(0))


def design(kernel, rows=X, m=48, **parameters):
    return designed_measure(kernel, rows.shape[1], pairs_of(kernel, rows), m, **parameters)


CHECKS = {
    "certificate": design_laws.check_certificate,
    "accuracy": design_laws.check_accuracy,
    "float32": design_laws.check_float32,
    "total variation": design_laws.check_total_variation,
    "bounded": lambda case: has_far_rows(case) and design_laws.check_bounded(case),
    **{
        f"bias, {scheme}": partial(design_laws.check_bias, scheme=scheme)
        for scheme in design_laws.SCHEMES
    },
    "prediction of whole blocks": partial(design_laws.check_prediction, scheme="orthogonal"),
}


@pytest.mark.thorough_cases(
    r"\b(16|5)d-",
    r"2d-(DeltaG|Tanh\(scale=0.5|NTK\(\) \+).*-([ac]|float32)|2d-Tanh\(scale=0.5.*-bias, o",
)
@pytest.mark.parametrize("check", CHECKS)
@pytest.mark.parametrize("case", EVERY)
def test_design(case, check):
    CHECKS[check](case)


@pytest.mark.thorough
@pytest.mark.parametrize("case", [*FEW[::3], *(pytest.param(case, marks=SLOW) for case in CASES)])
def test_prediction_of_independent_frequencies(case):
    design_laws.check_prediction(case, "iid")


def step(z):
    return np.where(z < 0.8, 1.0, 0.5)


def small_step(z):
    return np.exp(-z) - 0.05 * (z > 1.2)


def hole(z):
    return np.where((z > 0.6) & (z < 0.7), np.nan, 1.0)


@pytest.mark.parametrize(
    ("kernel", "where"),
    [
        (Radial(step), r"jumps by 0\.5 at the distance 0\.8;"),
        (Radial(step), r"rows reach far, here to [\d.]+: scale X by a smaller factor"),
        (Radial(small_step), r"jumps by 0\.05 at the distance 1\.2;"),
        (Radial(hole), r"nan at the distance 0\.60"),
        (Radial(np.reciprocal), r"inf at the distance 0\.0"),
        (Radial(np.log), r"-inf at the distance 0\.0"),
        (DotProduct(np.log), r"(nan|inf) at the inner product -?\d"),
        (DotProduct(np.sign), r"jumps by 2 at the (distance|inner product)"),
        (Gaussian() - 0.5 * Radial(step), r"jumps by 0\.25 at the distance 0\.8;"),
    ],
    ids=str,
)
def test_functions_that_have_no_measure_are_refused_with_the_place(kernel, where):
    with pytest.raises(ValueError, match=where):
        design(kernel)


@pytest.mark.thorough
@pytest.mark.parametrize("m", [1, 5, 64])
@pytest.mark.parametrize(
    ("kernel", "row", "rows"),
    [
        (DeltaGaussian(), [0.3, 0.4], 1),
        (TL1(1.0), [1.0, 2.0], 7),
        (Hellinger(), [0.0, 0.0], 7),
        (Polynomial(2), [1.0, -2.0], 7),
        (NTK(), [0.6, -0.8], 1),
    ],
    ids=str,
)
def test_equal_rows_are_no_difficulty(kernel, row, rows, m):
    same = np.tile(row, (rows, 1))
    measure = design(kernel, same, m=m)
    f = measure.sample(m, 0)
    assert f.n_frequencies == m
    if m >= len(measure.parts):
        exact = kernel(same)
        assert_allclose(f.gram(same), exact, atol=max(2.0 * measure.max_error, 1e-6))


def test_kernels_of_more_than_one_number_are_refused():
    with pytest.raises(TypeError, match=r"not a function of one distance or inner product"):
        designed_measure(Gaussian((1.0, 2.0)), 2, Pairs.of_distances([1.0], Metric.EUCLIDEAN), 8)


@pytest.mark.parametrize("n_rows", [3, 8])
def test_pairs_have_their_share_of_the_matrix(n_rows):
    """Rows with themselves are 1 / n of all entries; every other pair counts twice."""
    rows = np.random.default_rng(0).normal(size=(n_rows, 2))
    pairs = Pairs.of_rows(rows, Metric.EUCLIDEAN, np.random.default_rng(1))
    geometry = Geometry.of(profile(DeltaGaussian()), pairs, 2, 1.0)
    own = geometry.distance == 0.0
    assert_allclose(geometry.weight[own].sum(), 1.0 / n_rows)
    assert_allclose(geometry.weight[~own], 2.0 / n_rows**2)


def test_broad_proposals_have_the_unit_of_the_rows():
    rows = np.random.default_rng(0).normal(size=(20, 2))
    laws = (broad_proposal(unit * rows, unit * 0.7) for unit in (1.0, 3.0))
    one, other = (law.sample(64, np.random.default_rng(0)).omega for law in laws)
    assert_allclose(one, 3.0 * other)
