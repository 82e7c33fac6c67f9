"""Designed measures."""

from functools import partial

import numpy as np
import pytest
from laws import design_laws
from laws.design_laws import CASES, FEW, SCHEMES, has_far_rows
from laws.registry import bump, wave
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
    Tanh,
)
from bochner.spectral.design import designed_measure
from bochner.spectral.profiles import Geometry, Pairs, profile

SLOW = pytest.mark.slow
EVERY = [pytest.param(case, marks=() if case in FEW else SLOW, id=str(case)) for case in CASES]
RNG = np.random.default_rng(0)
X = RNG.normal(size=(50, 3)) / 2.0
SPHERE = X / np.linalg.norm(X, axis=1, keepdims=True)


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


@pytest.mark.parametrize("check", CHECKS)
@pytest.mark.parametrize("case", EVERY)
def test_design(case, check):
    CHECKS[check](case)


@pytest.mark.parametrize("case", [*FEW[::3], *(pytest.param(case, marks=SLOW) for case in CASES)])
def test_prediction_of_independent_frequencies(case):
    design_laws.check_prediction(case, "iid")


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("m", [1, 3])
def test_prediction_for_fewer_frequencies_than_atoms(m, scheme):
    kernel = DeltaGaussian(0.5, 3.0)
    measure, exact = design(kernel, m=m, orthogonal=scheme != "iid"), kernel(X)
    squares = [
        np.mean((measure.sample(m, stream, scheme).gram(X) - exact) ** 2)
        for stream in np.random.default_rng(m).spawn(400)
    ]
    ratio = np.sqrt(np.mean(squares) / np.mean(exact**2)) / measure.predicted_error
    assert 0.75 < ratio < 1.25


def test_designs_are_deterministic_and_found_once(monkeypatch):
    from bochner.spectral import design as module

    measure = design(NTK(), SPHERE)
    monkeypatch.setattr(module, "linprog", None, raising=False)
    for name in ("Program", "Geometry"):
        monkeypatch.setattr(module, name, None)
    assert design(NTK(), SPHERE.copy()) == measure
    with pytest.raises((TypeError, AttributeError)):
        design(NTK(), 0.9 * SPHERE**2)


def test_a_function_that_cannot_be_hashed_is_served_and_not_remembered():
    square = np.polynomial.Polynomial([1.0, 2.0, 1.0])
    first = design(DotProduct(square), SPHERE)
    assert_allclose(first.mass, 4.0, atol=1.01 * first.max_error)
    square.coef = np.array([0.0, 1.0])
    second = design(DotProduct(square), SPHERE)
    assert_allclose(second.mass, 1.0, atol=1.01 * second.max_error)


def test_the_design_does_not_grow_with_the_data():
    few, many = (
        pairs_of(TL1(2.0), np.random.default_rng(1).normal(size=(n, 3))) for n in (200, 20_000)
    )
    for pairs in (few, many):
        assert len(pairs.distance) == 400
    first, second = (designed_measure(TL1(2.0), 3, pairs, 48) for pairs in (few, many))
    assert abs(len(first.parts) - len(second.parts)) < 10
    assert_allclose(first.predicted_error, second.predicted_error, rtol=0.5)


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


@pytest.mark.parametrize("margin", [0.5, 1.0])
def test_functions_may_end_where_the_data_do(margin):
    reach = pairs_of(Gaussian(), X).reach

    def ends(z):
        return np.where(z <= margin * reach, np.exp(-z), np.nan)

    if margin < 1.0:
        with pytest.raises(ValueError, match=r"nan at the distance"):
            design(Radial(ends))
    else:
        assert design(Radial(ends)).max_error < 0.2


@pytest.mark.parametrize(
    ("kernel", "rows"),
    [
        pytest.param(Hellinger(), np.abs(SPHERE), id="Hellinger"),
        pytest.param(DotProduct(np.cbrt), X, id="cube root"),
    ],
)
def test_infinite_slopes_are_no_jumps(kernel, rows):
    measure = design(kernel, rows, m=96)
    assert measure.max_error < 0.5 * np.abs(kernel(rows)).max()


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


@pytest.mark.parametrize(
    "kernel",
    [DeltaGaussian(0.5, 2.0), TL1(1.0), Radial(bump), Radial(wave), Tanh(), NTK()],
    ids=str,
)
def test_one_input(kernel):
    line = np.linspace(-1.0, 1.0, 21)[:, None]
    rows = np.sign(line[line[:, 0] != 0.0]) if kernel == NTK() else line
    measure = design(kernel, rows)
    assert np.isfinite(measure.total_variation)
    exact, error = kernel(rows), []
    for stream in np.random.default_rng(0).spawn(20):
        error.append(np.mean((measure.sample(48, stream).gram(rows) - exact) ** 2))
    measured = np.sqrt(np.mean(error) / np.mean(exact**2))
    assert measured < 1.5 * measure.predicted_error + 1e-5


def test_rows_at_right_angles():
    measure = design(Hellinger(), 3.0 * np.eye(4))
    assert np.isfinite(measure.predicted_error)
    assert_allclose(measure.sample(48, 0).gram(3.0 * np.eye(4)), 3.0 * np.eye(4), atol=1.5)


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
