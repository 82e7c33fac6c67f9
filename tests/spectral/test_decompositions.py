"""Ways from a kernel to its measure."""

import warnings

import numpy as np
import pytest
from laws.registry import bump, check_mean
from numpy.testing import assert_allclose
from scipy.spatial.distance import pdist

from bochner import spectral, spectral_measure
from bochner.kernels import (
    NTK,
    TL1,
    Bilinear,
    Cauchy,
    CoshGaussian,
    DeltaGaussian,
    Gaussian,
    Laplacian,
    Matern,
    Radial,
    ShiftGaussian,
    SinhGaussian,
    SphericalPolynomial,
    Tanh,
)
from bochner.spectral.closed_forms import closed_form
from bochner.spectral.measure import ByMass, ByVariance, HalfByMass

X = np.random.default_rng(0).random((40, 3))
DISTANCES = pdist(X)
FAMILY_ALPHA = 1e-3


def is_designed(measure):
    return isinstance(measure.allocation, ByVariance) and measure.predicted_error is not None


@pytest.mark.parametrize(
    "kernel",
    [
        Gaussian(),
        2.0 * Laplacian() * Matern(),
        Gaussian() + Cauchy((1.0, 2.0, 3.0)),
        0.0 * DeltaGaussian(),
        # A negative factor twice.
        (-1.0 * Gaussian()) * (-2.0 * Matern()),
    ],
    ids=str,
)
def test_positive_measures_are_closed_forms(kernel):
    measure = spectral_measure(kernel, 3, DISTANCES)
    assert measure == closed_form(kernel, 3)
    assert (measure.max_error, measure.predicted_error) == (0.0, None)


@pytest.mark.thorough
@pytest.mark.parametrize(
    "kernel", [Gaussian() - Matern(), Radial(bump), Laplacian() - 2.0 * TL1(2.0)], ids=str
)
def test_signed_and_unknown_measures_are_designed_for_distances(kernel):
    measure = spectral_measure(kernel, 3, DISTANCES, 32)
    assert is_designed(measure)
    assert measure == spectral_measure(kernel, 3, DISTANCES, 32, decomposition="designed")
    assert_allclose(measure.mass, kernel(X[:1])[0, 0], atol=measure.max_error)


def test_signed_closed_forms_serve_where_there_are_no_distances():
    kernel = Gaussian() - 0.5 * Matern(2.0)
    measure = spectral_measure(kernel, 3)
    assert measure == closed_form(kernel, 3)
    assert isinstance(measure.allocation, HalfByMass)
    assert [part.mass for part in measure.parts] == [1.0, -0.5]
    assert not measure.is_positive
    assert (measure.mass, measure.total_variation) == (0.5, 1.5)


@pytest.mark.parametrize("kernel", [TL1(1.0), Radial(bump), -1.0 * TL1(1.0)], ids=str)
def test_unknown_measures_need_distances(kernel):
    for decomposition in ("auto", "designed"):
        with pytest.raises(ValueError, match=r"how far the data reach.*pdist"):
            spectral_measure(kernel, 3, decomposition=decomposition)


def test_more_than_one_number_cannot_be_designed_for():
    with pytest.raises(TypeError, match=r"not a function of one distance.*decomposition='jordan'"):
        spectral_measure(Cauchy(), 3, DISTANCES, decomposition="designed")


@pytest.mark.thorough
@pytest.mark.parametrize(
    "kernel",
    [
        TL1(1.3) + 0.5 * Gaussian(),
        TL1(1.3) * Gaussian(),
        -0.5 * (TL1(1.0) * Cauchy()),
        Tanh() * Cauchy(),
    ],
    ids=str,
)
def test_combinations_are_designed_term_by_term(kernel):
    # The bias of a sum or a product is within the bound that is made of its members' bounds.
    measure = spectral_measure(kernel, 3, DISTANCES, 64)
    assert measure.predicted_error is None
    rows = X / np.linalg.norm(X, axis=1, keepdims=True)
    values = np.array(
        [
            measure.sample(64, stream, "iid").gram(rows[:1], rows)[0]
            for stream in np.random.default_rng(1).spawn(300)
        ]
    )
    exact = kernel(rows[:1], rows)[0]
    check_mean(values, exact, FAMILY_ALPHA / (4 * len(rows)), max_error=measure.max_error)
    assert measure.max_error < 0.3 * np.abs(kernel(rows)).max()


def test_jordan_parts_split_by_sign():
    positive, negative = spectral_measure(DeltaGaussian(0.5, 2.0), 4, decomposition="jordan").parts
    assert (positive.mass, negative.mass) == (1.0, -1.0)
    assert (positive.law.length_scale, negative.law.length_scale) == (0.5, 2.0)


@pytest.mark.thorough
def test_jordan_parts_of_the_spherical_polynomial_are_truncated():
    kernel = 2.0 * SphericalPolynomial(2) + Gaussian()
    with warnings.catch_warnings(action="error"):
        short, long = (
            spectral_measure(kernel, 2, decomposition=spectral.Jordan(truncation))
            for truncation in (5, 40)
        )
    assert len(short.parts) == 3
    assert long.max_error < short.max_error
    assert_allclose(long.mass, 3.0, atol=long.max_error)
    with pytest.warns(UserWarning, match="infinite"):
        spectral_measure(kernel, 16, decomposition="jordan")


@pytest.mark.parametrize("kernel", [TL1(1.0), NTK(), Tanh(), Radial(bump) + Gaussian()], ids=str)
def test_kernels_without_closed_form_have_no_jordan_parts(kernel):
    with pytest.raises(TypeError, match="No spectral measure in closed form is known"):
        spectral_measure(kernel, 3, DISTANCES, decomposition="jordan")


SKEWED = [
    ShiftGaussian(0.8, (0.5, 0.0, -0.2)),
    SinhGaussian((1.0, 2.0, 0.5), 0.3),
    2.0 * CoshGaussian(1.0, 0.3) * Matern() - Gaussian(),
    Bilinear(CoshGaussian(), np.eye(3)[:, :2], np.ones((4, 2))),
]


@pytest.mark.parametrize("kernel", SKEWED, ids=str)
def test_asymmetric_kernels_are_drawn_in_polar_form(kernel):
    with_distances, without = (spectral_measure(kernel, 3, given) for given in (DISTANCES, None))
    polar = spectral_measure(kernel, 3, decomposition="polar")
    for measure in (with_distances, without, polar):
        assert repr(measure) == repr(closed_form(kernel, 3))
        assert not measure.is_positive
    assert spectral_measure(kernel, 3, decomposition="jordan").allocation == ByMass()


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        *(({"n_frequencies": bad}, "n_frequencies must be at least 1") for bad in (0, -5)),
        *(
            ({"decomposition": bad}, r"'auto', 'designed', 'polar', 'jordan'.*got")
            for bad in ("rectangular", None, 3)
        ),
    ],
)
def test_arguments_out_of_their_domain_are_refused(parameters, message):
    with pytest.raises(ValueError, match=message):
        spectral_measure(NTK(), 2, **parameters)


@pytest.mark.parametrize("bad", [0.0, -1.0, np.inf, np.nan])
def test_the_truncation_must_be_positive(bad):
    with pytest.raises(ValueError, match="truncation must be positive"):
        spectral.Jordan(bad)
