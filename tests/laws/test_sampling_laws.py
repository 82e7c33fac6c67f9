"""Every kernel through every scheme, and every scheme by itself."""

import numpy as np
import pytest
from laws import sampling_laws as laws
from laws.registry import CASES, Case
from scipy import stats

from bochner import spectral_measure
from bochner.kernels import Anova, Exponential, Gaussian, Laplacian, Matern
from bochner.spectral import BlockLaw, Coordinates, Directions, Structured


def of_coordinates(law):
    if law.members:
        return any(map(of_coordinates, law.members))
    return isinstance(law, BlockLaw) and Coordinates(law.dim) in law.layout


def has_coordinates(case):
    measure = spectral_measure(case.kernel, case.dim)
    return any(map(of_coordinates, (part.law for part in measure.parts)))


STRUCTURED = [case for case in CASES if not has_coordinates(case)]
DEPENDENT = ("orthogonal", "energy", "lattice")
PAIRS = [(case, scheme) for scheme in DEPENDENT for case in CASES] + [
    (case, "structured") for case in STRUCTURED
]
BY_TURNS = [
    (case, scheme)
    for case, scheme in PAIRS
    if case.dim == 2 or (CASES.index(case) + laws.SCHEMES.index(scheme)) % 2
]
"""All pairs in the plane; on the line and in five inputs two or three schemes of each kernel."""

GAUSSIANS = [case for case in CASES if isinstance(case.kernel, Gaussian)]


AT_LENGTH = pytest.mark.parametrize(
    ("seeds", "m"), [(50, 128), pytest.param(300, 200, marks=pytest.mark.slow)]
)


@pytest.mark.thorough_cases(but="2d")
@AT_LENGTH
@pytest.mark.parametrize("case", CASES, ids=str)
def test_independent_draws(case, seeds, m):
    laws.check_iid(case, seeds, m)


@pytest.mark.thorough_cases(
    r"\b(1|5|20)d-|-structured-",
    r"^2d-RationalQuadratic\(length_scale=0.8, alpha=3.0\)-lattice-50-",
)
@AT_LENGTH
@pytest.mark.parametrize(("case", "scheme"), BY_TURNS, ids=str)
def test_dependent_draws(case, scheme, seeds, m):
    laws.check_unbiased(case, scheme, seeds, m)


@pytest.mark.thorough_cases(but="2d")
@pytest.mark.parametrize(("case", "scheme"), PAIRS, ids=str)
def test_at_zero(case, scheme):
    laws.check_at_zero(case, scheme)


@pytest.mark.parametrize("scheme", DEPENDENT)
@pytest.mark.parametrize("case", GAUSSIANS, ids=str)
def test_dependence_pays_for_the_gaussian_kernel(case, scheme):
    ratio = laws.check_dominates(case, scheme)
    assert ratio[0] < 0.5, "much lower at small lags"


@pytest.mark.parametrize("dim", [1, 2])
def test_the_variance_of_lattices_falls_much_faster_than_one_over_m(dim):
    case = Case(Gaussian(0.8), dim)
    coarse, fine = (laws.estimates(case, "lattice", 50, m).var(axis=0) for m in (32, 256))
    # Independent draws would gain a factor of 8, the asymptotic rate in one dimension is 512.
    assert np.median(fine / coarse) < 1.0 / 32.0


SERVED = [
    (scheme, block)
    for scheme in laws.SCHEMES
    for block in laws.BLOCKS
    if not (scheme == "structured" and isinstance(block, Coordinates))
]


@pytest.mark.thorough
@pytest.mark.parametrize(("scheme", "block"), SERVED, ids=str)
def test_rows_are_uniform(scheme, block):
    laws.check_marginals(scheme, block)


@pytest.mark.thorough
@pytest.mark.parametrize("scheme", laws.SCHEMES)
def test_blocks_are_independent(scheme):
    laws.check_streams(scheme)


@pytest.mark.thorough_cases(but=r"2$|Gaussian\(|iid|lattice|orthogonal|structured")
@pytest.mark.parametrize("dim", [2, 5])
@pytest.mark.parametrize("scheme", laws.SCHEMES)
@pytest.mark.parametrize("kernel", [Exponential(0.8), Matern(0.8, nu=2.5), Gaussian(0.8)], ids=str)
def test_isotropic_and_product_kernels_are_told_apart(kernel, scheme, dim):
    # The product of one-dimensional kernels agrees with the isotropic one on the axes only.
    separable = Laplacian(0.8) if isinstance(kernel, Exponential) else Anova(kernel, 1.0)
    origin, diagonal = np.zeros((1, dim)), np.full((1, dim), 0.6)
    on_axis = np.eye(1, dim)
    assert np.allclose(kernel(origin, on_axis), separable(origin, on_axis))
    gap = abs(kernel(origin, diagonal) - separable(origin, diagonal))[0, 0]
    if isinstance(kernel, Gaussian):
        assert gap < 1e-12
        return
    measure = spectral_measure(kernel, dim)
    streams = Case(kernel, dim).rng(scheme).spawn(50)
    values = [measure.sample(512, s, scheme).gram(origin, diagonal)[0, 0] for s in streams]
    error = np.std(values, ddof=1) / np.sqrt(len(values))
    threshold = stats.t.isf(laws.ALPHA / 2.0, len(values) - 1)
    assert abs(np.mean(values) - kernel(origin, diagonal)[0, 0]) < threshold * error
    assert abs(np.mean(values) - separable(origin, diagonal)[0, 0]) > threshold * error


@pytest.mark.parametrize("dim", [64, 100])
def test_structured_blocks_are_biased_by_no_more_than_one_over_their_order(dim):
    order = 1 << (dim - 1).bit_length()
    kernel = Gaussian(np.sqrt(dim))
    lags = np.stack([np.eye(dim)[3] * np.sqrt(dim), np.linspace(-1.5, 1.5, dim)])
    measure = spectral_measure(kernel, dim)
    values = np.array(
        [
            measure.sample(2 * order, stream, "structured").gram(np.zeros((1, dim)), lags)[0]
            for stream in np.random.default_rng(dim).spawn(50)
        ]
    )
    error = values.std(axis=0, ddof=1) / np.sqrt(50)
    bias = np.abs(values.mean(axis=0) - kernel(np.zeros((1, dim)), lags)[0])
    assert (bias < 1.0 / order + stats.t.isf(laws.ALPHA / 2.0, 49) * error).all()


def test_structured_rows_are_orthogonal_within_a_block():
    rows = np.asarray(Structured().sample((Directions(64),), 128, np.random.default_rng(0))[0])
    for block in (rows[:64], rows[64:]):
        np.testing.assert_allclose(block @ block.T, np.eye(64), atol=1e-12)
    assert np.abs(rows[:64] @ rows[64:].T).max() > 0.1
