"""What every designed measure obeys, on the data that it was designed for.

The transform is computed from the laws of the parts alone: waves averaged over the sphere by
quadrature, Gaussians and exponentials by their formulas, envelopes by theirs. Random checks have
streams fixed by the name of the case; the chance that the battery rejects a right implementation
is at most ``FAMILY_ALPHA``, shared evenly among its comparisons.
"""

import numpy as np
from laws.atom_laws import mean_over_the_sphere
from laws.references import reference_gram
from laws.registry import Case, anywhere, bump, odd, of_no_sign, on_the_sphere
from scipy import stats
from scipy.spatial.distance import cdist

from bochner import kernels
from bochner.spectral import Independent, Isotropic, design
from bochner.spectral.laws import Chi, Shell, Student
from bochner.spectral.profiles import Pairs, profile

FAMILY_ALPHA = 1e-3
SCHEMES = ("iid", "orthogonal")
MARGIN = 1.05
N_ROWS = 80
N_PROBES = 1000
N_BIASES = 8
STEPS = (1.0, 1.5, 3.0, 10.0, 100.0)


def root(z):
    """Square root: infinite slope at zero, and without bound."""
    return np.sqrt(z)


def designed(dim):
    """Every kind of kernel that a measure is designed for, in its domain."""
    plain = [
        kernels.DeltaGaussian(0.5, 3.0),
        kernels.Gaussian(1.0) - 0.5 * kernels.Gaussian(3.0),
        kernels.TL1(1.2 * np.sqrt(dim)),
        kernels.Laplacian(np.sqrt(dim)) - 0.7 * kernels.TL1(2.0 * np.sqrt(dim)),
        kernels.Radial(root),
        kernels.Radial(bump),
        kernels.Tanh(0.5, 0.3),
        kernels.Polynomial(2, 1.0),
        kernels.DotProduct(odd),
    ]
    spherical = [
        kernels.SphericalPolynomial(2),
        kernels.ArcCosine(0),
        kernels.ArcCosine(1),
        kernels.NTK(),
        kernels.NTK() - 0.5 * kernels.Tanh(),
        kernels.Tanh(2.0, 0.1),
    ]
    yield from (Case(kernel, dim, anywhere) for kernel in plain)
    yield from (Case(kernel, dim, on_the_sphere) for kernel in spherical)
    yield Case(kernels.Hellinger(), dim, of_no_sign)


CASES = tuple(case for dim in (2, 5, 16) for case in designed(dim))
# All of them together are slow.
FEW = tuple(CASES[i] for i in (0, 6, 13, 16 + 1, 16 + 10, 16 + 15, 32 + 2, 32 + 4, 32 + 8, 32 + 12))
_TESTS = len(CASES) * len(SCHEMES) * 2 * N_BIASES


def rows(case):
    return case.points(N_ROWS, 0.7 / np.sqrt(case.dim))


def pairs(case):
    return Pairs.of_rows(rows(case), profile(case.kernel).metric, case.rng("pairs"))


def n_frequencies(case):
    return 16 * case.dim


def measure(case, scheme="orthogonal"):
    """The measure for sixteen frequencies for each input."""
    return design.designed_measure(
        case.kernel, case.dim, pairs(case), n_frequencies(case), orthogonal=scheme != "iid"
    )


def samples(case, scheme, seeds, purpose, mu=None):
    """Frequencies from as many streams."""
    mu = measure(case) if mu is None else mu
    for stream in case.rng(f"{purpose}/{scheme}").spawn(seeds):
        yield mu.sample(n_frequencies(case), stream, scheme)


def transform(mu, X, Y):
    """The transform of a designed measure for rows ``X`` and ``Y`` where its envelopes hold."""
    return sum(part.mass * _values(part.law, X, Y) * _damping(part, X, Y) for part in mu.parts)


def _values(law, X, Y):
    if isinstance(law, Independent):
        assert law.radial == Student(1.0)
        return np.exp(-cdist(X, Y, "cityblock") / law.length_scale)
    assert isinstance(law, Isotropic)
    z = cdist(X, Y) / law.length_scale
    if isinstance(law.radial, Chi):
        return np.exp(-0.5 * z**2)
    assert isinstance(law.radial, Shell)
    return mean_over_the_sphere(law.radial.norm * z, law.dim)


def _damping(part, X, Y):
    rate, radius = part.envelope
    depth = [np.abs(radius**2 - np.sum(rows**2, axis=1)) for rows in (X, Y)]
    return np.exp(-rate * np.add.outer(*depth))


def probes(case):
    """One row and many others, at all distances or inner products that the data reach."""
    rng, metric, known = case.rng("probes"), profile(case.kernel).metric, pairs(case)
    share = np.concatenate([rng.random(N_PROBES), 10.0 ** rng.uniform(-5.0, 0.0, N_PROBES // 10)])
    first, across = np.eye(2, case.dim)
    if metric is not kernels.Metric.INNER_PRODUCT and not isinstance(
        _domain(case), kernels.UnitSphere
    ):
        direction = case.place(rng.normal(size=(1, case.dim)))
        step = metric.pairs(np.zeros_like(direction), direction)[0, 0]
        t = MARGIN * known.reach * share
        return np.zeros((1, case.dim)), t[:, None] * direction / step
    if known.spherical or isinstance(_domain(case), kernels.UnitSphere):
        angle = 2.0 * np.arcsin(0.5 * min(MARGIN * known.reach, 2.0) * share)
        return first[None], np.outer(np.cos(angle), first) + np.outer(np.sin(angle), across)
    radius = known.norm * np.sqrt(MARGIN)
    least = known.least_inner - (MARGIN - 1.0) * (known.norm**2 - known.least_inner)
    if isinstance(_domain(case), kernels.NonNegative):
        least = max(least, 0.0)
    inner = radius**2 - (radius**2 - max(least, -(radius**2))) * share
    side = rng.random(len(inner)) * np.sqrt(radius**2 - (inner / radius) ** 2)
    return radius * first[None], np.outer(inner / radius, first) + np.outer(side, across)


def _domain(case):
    return profile(case.kernel).domain


def check_certificate(case, scheme="orthogonal"):
    """``max_error`` is the greatest error as far as the data reach, to one per cent."""
    mu, (x, Y) = measure(case, scheme), probes(case)
    error = np.abs(transform(mu, x, Y) - reference_gram(case.kernel, x, Y)).max()
    assert error <= 1.01 * mu.max_error + 1e-9, (error, mu.max_error)
    assert error >= 0.97 * mu.max_error, "the certificate is no rough bound"


def check_bias(case, scheme, seeds=60):
    """Samples estimate the transform without bias, hence the kernel to within ``max_error``."""
    mu, (x, Y) = measure(case), probes(case)
    Y = Y[:N_BIASES]
    values = np.array([f.gram(x, Y)[0] for f in samples(case, scheme, seeds, "bias")])
    error = values.std(axis=0, ddof=1) / np.sqrt(seeds) + 1e-12 * mu.total_variation + 1e-15
    t = (values.mean(axis=0) - transform(mu, x, Y)[0]) / error
    threshold = stats.t.isf(FAMILY_ALPHA / _TESTS / 2.0, seeds - 1)
    assert np.abs(t).max() < threshold, f"biased: t = {t.round(1)}"
    gap = np.abs(values.mean(axis=0) - reference_gram(case.kernel, x, Y)[0])
    assert (gap < 1.01 * mu.max_error + threshold * error).all(), (gap, mu.max_error)


def check_prediction(case, scheme, seeds=40):
    """``predicted_error`` is the error over pairs of distinct rows, to within a quarter."""
    mu, X = measure(case, scheme), rows(case)
    distinct = ~np.eye(len(X), dtype=bool)
    exact = case.kernel(X)[distinct]
    squares = [
        np.mean((f.gram(X)[distinct] - exact) ** 2)
        for f in samples(case, scheme, seeds, "error", mu)
    ]
    ratio = np.sqrt(np.mean(squares) / np.mean(exact**2)) / mu.predicted_error
    assert 0.75 < ratio < 1.25, ratio


def has_far_rows(case):
    """Whether the kernel is defined away from the data."""
    return not isinstance(_domain(case), kernels.UnitSphere)


def far_rows(case):
    """Rows away from all others: once as far as they are from one another, to a hundred times."""
    X = rows(case)
    step = np.resize(STEPS, 60)
    direction = case.place(case.rng("far").normal(size=(len(step), case.dim)))
    direction /= np.linalg.norm(direction, axis=1, keepdims=True)
    centre = X.mean(axis=0)
    spread = np.sqrt(np.max(np.sum((X - centre) ** 2, axis=1)))
    return centre + 2.0 * spread * step[:, None] * direction


def check_bounded(case, seeds=6):
    """Far from the data no estimate is above 1.5 times the greatest value of the kernel.

    If it grows without bound, the greatest value is that up to three times as far as the data.
    """
    X, far = rows(case), far_rows(case)
    near = far[np.resize(STEPS, len(far)) <= 3.0]
    greatest = max(np.abs(case.kernel(some, X)).max() for some in (X, near))
    for f in samples(case, "orthogonal", seeds, "bounded"):
        assert np.abs(f.gram(far, X)).max() <= 1.5 * greatest


def check_float32(case):
    """Features in float32 lose less than a tenth of the accuracy of those in float64."""
    X = rows(case)
    exact = case.kernel(X)
    for f in samples(case, "orthogonal", 3, "float32"):
        wide, narrow = (
            np.linalg.norm(f.gram(X.astype(dtype)) - exact) for dtype in (np.float64, np.float32)
        )
        assert narrow < 1.1 * wide, (narrow, wide)


def check_total_variation(case):
    """The total variation is at most forty times the greatest value of the kernel."""
    assert measure(case).total_variation < 40.0 * np.abs(case.kernel(rows(case))).max()


def check_accuracy(case):
    """A few atoms follow the kernel: the error is well below that of no features at all."""
    mu = measure(case)
    assert mu.max_error < 0.45 * np.abs(case.kernel(rows(case))).max(), mu.max_error
    assert mu.predicted_error < 0.5
