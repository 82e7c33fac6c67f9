"""FourierFeatures of every kernel, from data to features."""

import warnings

import numpy as np
import pytest
from laws.registry import concrete_kernels, drift, odd, wave
from numpy.testing import assert_allclose
from scipy import sparse

from bochner import FourierFeatures, kernels

RNG = np.random.default_rng(0)
ROWS = RNG.random(size=(80, 5)) * (RNG.random(size=(80, 5)) < 0.7) + 0.01 * np.eye(80, 5)
ROWS[:, 0] += 0.1
UNIT = ROWS / np.linalg.norm(ROWS, axis=1, keepdims=True)


LEFT, RIGHT = RNG.normal(size=(2, 5, 2)) / 2.0

EVERYWHERE = [
    kernels.Gaussian(0.8),
    kernels.Laplacian(2.0),
    kernels.Exponential(1.0),
    kernels.Matern(1.0, nu=0.8),
    kernels.Cauchy(1.0),
    kernels.RationalQuadratic(1.0, alpha=0.7),
    kernels.Anova(kernels.Gaussian(0.8), 0.4),
    kernels.SpectralMixture([0.5, 1.5], [(1.0,) * 5, (0.0,) * 5], [0.4, 1.2]),
    kernels.DeltaGaussian(),
    kernels.TL1(3.5),
    kernels.Polynomial(3, 5.0),
    kernels.Tanh(1 / 5, 1.0),
    kernels.Hellinger(),
    kernels.Radial(wave),
    kernels.DotProduct(odd),
    kernels.Gaussian() - 0.5 * kernels.Matern(3.0),
    kernels.Laplacian(2.0) * kernels.TL1(3.5),
    kernels.LocallyStationary(kernels.Gaussian(4.0), kernels.Matern(3.0), 0.5),
    kernels.Harmonizable(
        RNG.uniform(0.5, 1.0, size=(2, 1, 2)),
        0.3 * RNG.normal(size=(2, 2, 5)),
        0.5,
        0.2,
        [[0.2] * 5, [0.0] * 5],
    ),
    kernels.ShiftGaussian(2.0, 0.4),
    kernels.SinhGaussian(2.0, 0.1 * np.pi),
    kernels.CoshGaussian(2.0, 0.1 * np.pi),
    0.5 * kernels.ShiftGaussian(1.0, (0.3, 0.0, 0.0, -0.2, 0.5)) + kernels.SinhGaussian(1.0, 0.4).T,
    kernels.Bilinear(kernels.CoshGaussian(1.0, 0.3), LEFT, RIGHT),
    kernels.Bilinear(kernels.Stationary(drift), LEFT),
    kernels.Bilinear(kernels.Stationary(drift).T, LEFT, RIGHT),
    kernels.Bilinear(kernels.DotProduct(np.exp), LEFT, RIGHT),
]
ON_CODES = [
    kernels.Categorical(0.1, n_levels=(6, 7)).on([0, 1]),
    kernels.Ordinal(2.0).on([2, 4]),
    kernels.Periodic(7.0, 2.0),
    kernels.Constant(0.7),
    kernels.Linear(0.5, centre=2.0),
    kernels.Categorical().on([0, 2]) * kernels.Gaussian(3.0).on(1) + kernels.Linear().on(-1),
    kernels.TL1(9.0).on([0, 2]) - 0.3 * kernels.Matern(4.0).on(1),
]
ON_THE_SPHERE = [
    kernels.SphericalPolynomial(2),
    kernels.NTK(),
    kernels.ArcCosine(0),
    kernels.ArcCosine(1),
]


def test_no_kernel_is_left_out():
    listed = EVERYWHERE + ON_THE_SPHERE + ON_CODES
    mapped = [k.kernel for k in listed if isinstance(k, kernels.Bilinear | kernels.OnColumns)]
    # Noise has no features.
    assert concrete_kernels() == {*map(type, listed + mapped), kernels.Scaled, kernels.White}


@pytest.mark.thorough_cases(
    r"^(ArcC|Bilin|DeltaG|DotP|Gauss|Hell|NTK|Radial\(w|Spher|TL1|Tanh\(scale=0.2|Poly.*=5.0)|TL1\(tau=3.5\)"
)
@pytest.mark.parametrize("kernel", EVERYWHERE + ON_THE_SPHERE + ON_CODES, ids=str)
def test_every_kernel_end_to_end(kernel):
    rows = UNIT if kernel in ON_THE_SPHERE else np.floor(5 * ROWS) if kernel in ON_CODES else ROWS
    with warnings.catch_warnings(action="error"):
        features = FourierFeatures(kernel, 320, random_state=0).fit(rows)
        Z, right = features.transform(rows), features.transform_right(rows)
        gram = features.gram(rows)
        narrow = features.transform(rows.astype(np.float32))
        thin = features.transform(sparse.csr_array(rows))
    assert Z.shape == (80, 320)
    assert_allclose(gram, (Z * features.signature_) @ right.T, atol=1e-10)
    assert (not kernel.is_symmetric) or np.array_equal(Z, right)
    asymmetry = np.abs(kernel(rows) - kernel(rows).T).max()
    assert_allclose(np.abs(gram - gram.T).max(), asymmetry, rtol=0.9, atol=1e-10)
    assert narrow.dtype == np.float32
    size = np.abs(Z).max()
    assert_allclose(narrow, Z, atol=1e-3 * size)
    assert_allclose(thin, Z, atol=1e-9 * size)
    exact = kernel(rows)
    error = np.linalg.norm(gram - exact) / np.linalg.norm(exact)
    if features.predicted_error_ is None:
        assert error < 0.35
    else:
        assert error < 2.0 * features.predicted_error_
        assert features.max_error_ < 0.6 * np.abs(exact).max()
    assert features.max_error_ >= 0.0
    assert features.fit_error_ is None


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("kernel", "good", "bad", "message"),
    [
        (kernels.NTK(), UNIT, 2.0 * UNIT, r"unit sphere.*Normalizer"),
        ("arccosine1", UNIT, 1.001 * UNIT, "unit sphere"),
        (kernels.Hellinger(), ROWS, -ROWS, "zero or more"),
    ],
    ids=["NTK", "arccosine1", "Hellinger"],
)
def test_rows_outside_the_domain_are_refused(kernel, good, bad, message):
    with pytest.raises(ValueError, match=message):
        FourierFeatures(kernel, 32).fit(bad)
    features = FourierFeatures(kernel, 32).fit(good)
    for call in (features.transform, features.transform_right, features.gram):
        with pytest.raises(ValueError, match=message):
            call(bad)
    with pytest.raises(ValueError, match=message):
        features.gram(good, bad)
