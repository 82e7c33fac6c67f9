"""Features of learned mixtures: what they estimate, from what they learn, and what they refuse."""

import warnings

import numpy as np
import pytest
from learned.grouped_parameters import similarity_features
from numpy.testing import assert_allclose

from bochner import SimilarityFeatures, kernels
from bochner.learned.exact_inference import ExactInference
from bochner.papers import digmm as digmm_taylor
from bochner.papers.digmm import Taylor

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 2))
NEW = RNG.normal(size=(20, 2))
SIGNED = kernels.Gaussian(2.0) - 0.6 * kernels.Gaussian(0.5)
WAYS = (ExactInference(), Taylor())
LIMIT = 4.5


def model(kernel=SIGNED, n_components=64, **parameters):
    some = {"n_sketch": 20, "max_iter": 20, "n_starts": 2, "random_state": 0}
    return similarity_features(kernel, n_components, **some | parameters)


@pytest.fixture(scope="module", params=WAYS)
def fitted(request):
    return model(inference=request.param).fit(X)


def learned_by(patch, estimator, rows, **given):
    """Fit, and return what inference found."""
    found = []
    way = type(estimator.inference)
    right = way.infer

    def watched(self, *args):
        found.append(right(self, *args))
        return found[-1]

    patch.setattr(way, "infer", watched)
    estimator.fit(rows, **given)
    return found[0]


def assert_unbiased(patch, way, n_draws=400):
    """Over draws of frequencies the mean Gram matrix is that of the learned kernel."""
    estimator = model(inference=way, n_components=64)
    learned = learned_by(patch, estimator, X)
    grams = np.array(
        [
            learned.measure.sample(32, rng, way.scheme).gram(NEW[:8], NEW[8:])
            for rng in np.random.default_rng(1).spawn(n_draws)
        ]
    )
    expected = estimator.kernel_(NEW[:8], NEW[8:])
    z = (grams.mean(axis=0) - expected) / (grams.std(axis=0) / np.sqrt(n_draws))
    assert np.abs(z).max() < LIMIT


def assert_parts(one):
    assert (one.positive_ is not None) == (one.n_used_[0] > 0)
    assert (one.negative_ is not None) == (one.n_used_[1] > 0)
    parts = [0.0 if part is None else part(NEW, X) for part in (one.positive_, one.negative_)]
    assert_allclose(one.kernel_(NEW, X), parts[0] - parts[1], atol=1e-12)
    weight = one.frequencies_.weight
    for sign, part in ((1.0, one.positive_), (-1.0, one.negative_)):
        mass = 0.0 if part is None else sum(part.weights)
        assert_allclose(sign * weight[sign * weight > 0.0].sum(), mass, rtol=1e-12)


def assert_signature(one):
    Z = one.transform(NEW)
    frequencies = one.frequencies_
    assert_allclose((Z * one.signature_) @ Z.T, frequencies.gram(NEW), atol=1e-12)
    assert_allclose(one.gram(NEW), frequencies.gram(NEW), atol=1e-12)
    waves = np.cos((NEW[:, None] - X[None]) @ frequencies.omega.T)
    assert_allclose(one.gram(NEW, X), waves @ frequencies.weight, atol=1e-12)


def test_frequencies_are_spread_outside_of_the_span_of_the_sketch():
    """Two rows differ in one direction; in others the kernel falls off, too."""
    one = model(kernels.Gaussian(), n_sketch=2, max_iter=10).fit(X)
    gap = X[one.sketch_indices_[0]] - X[one.sketch_indices_[1]]
    beside = 20.0 * np.array([[-gap[1], gap[0]]]) / np.linalg.norm(gap)
    ratio = one.kernel_(beside, np.zeros((1, 2))) / one.kernel_(np.zeros((1, 2)))
    assert abs(ratio[0, 0]) < 0.1


def test_a_published_prior_is_a_gaussian_kernel_of_half_the_median_distance():
    one = model(kernels.Gaussian(), inference=Taylor(), noise=1e6, truncation=1).fit(X)
    differences = X[:, None] - X[None]
    median = np.median(np.linalg.norm(differences, axis=2)[np.triu_indices(len(X), k=1)])
    in_widths = np.array(one.positive_.covariances[0]) * (0.5 * median) ** 2
    assert_allclose(in_widths, np.eye(2), atol=0.05)


def test_masses_are_those_of_the_split():
    """The published way: masses are the eigenvalues of either sign, shifted."""
    one = model(SIGNED, inference=Taylor(1.2), max_iter=2).fit(X)
    eigenvalues = np.linalg.eigvalsh(SIGNED(X[one.sketch_indices_]))
    shift = -1.2 * eigenvalues.min()
    for part, signed in ((one.positive_, eigenvalues), (one.negative_, -eigenvalues)):
        assert_allclose(sum(part.weights), np.mean(np.maximum(signed, 0.0) + shift), rtol=1e-10)


@pytest.mark.thorough
@pytest.mark.parametrize("way", WAYS)
def test_features_are_unbiased(way, monkeypatch):
    assert_unbiased(monkeypatch, way)


@pytest.mark.parametrize("way", WAYS)
def test_units_of_inputs_do_not_matter(way):
    """Rows and length scales in other units are the same problem."""
    factor = 8.0
    near, far = (
        kernels.Gaussian(2.0) - 0.6 * kernels.Gaussian(0.5),
        (kernels.Gaussian(2.0 * factor) - 0.6 * kernels.Gaussian(0.5 * factor)),
    )
    one = model(near, inference=way).fit(X)
    other = model(far, inference=way).fit(factor * X)
    assert_allclose(factor * other.frequencies_.omega, one.frequencies_.omega, rtol=1e-5, atol=1e-7)
    assert_allclose(other.transform(factor * NEW), one.transform(NEW), rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("way", WAYS)
def test_similarities_are_as_good_as_their_kernel(way):
    one = model(SIGNED, inference=way).fit(X)
    other = model("precomputed", inference=way).fit(X, similarity=SIGNED(X))
    assert_allclose(other.frequencies_.omega, one.frequencies_.omega, rtol=1e-6, atol=1e-9)
    assert_allclose(other.frequencies_.weight, one.frequencies_.weight, rtol=1e-6)
    assert other.sketch_indices_.tolist() == one.sketch_indices_.tolist()


def test_the_kernel_is_the_difference_of_its_parts(fitted):
    assert_parts(fitted)


def test_the_signature_is_that_of_the_parts(fitted):
    assert_signature(fitted)
    assert {-1.0, 1.0} == set(fitted.signature_.tolist())


def test_given_noise_is_in_units_of_the_diagonal():
    assert_allclose(model(5.0 * kernels.Gaussian(), noise=0.3).fit(X).noise_, 1.5)


@pytest.mark.parametrize("way", WAYS)
def test_a_definite_kernel_has_no_negative_part(way):
    one = model(kernels.Gaussian(), inference=way).fit(X)
    assert one.negative_ is None
    assert one.responsibilities_[1] is None
    assert one.n_used_[1] == 0
    assert one.signature_.tolist() == [1.0] * 64


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("rows", [np.ones((7, 3)), X[:, :1], X[:2], np.repeat(X[:4], 5, axis=0)])
def test_small_data(way, rows):
    one = model(inference=way, n_sketch=1000, max_iter=4).fit(rows)
    assert sorted(one.sketch_indices_.tolist()) == list(range(len(rows)))
    assert np.isfinite(one.transform(rows)).all()
    assert np.isfinite(one.kernel_(rows)).all()


@pytest.mark.parametrize("way", WAYS)
def test_entries_whose_squares_overflow_are_refused(way):
    with pytest.raises(ValueError, match=r"at most 1e\+150 in size.*got 1e\+200. Change"):
        model("gaussian", inference=way).fit(np.vstack((X, [1e200, 0.0])))


def test_frequencies_of_the_published_way_are_those_of_its_components():
    """As many are drawn of each as inference had; all components are in."""
    one = model(inference=Taylor(), n_components=512, truncation=4).fit(X)
    mixtures = [part for part in (one.positive_, one.negative_) if part is not None]
    for sign, part in zip((1.0, -1.0), mixtures, strict=True):
        mine = one.frequencies_.weight[sign * one.frequencies_.weight > 0.0]
        assert len(mine) == 128
        assert_allclose(mine, sign * sum(part.weights) / 128, rtol=1e-12)
    assert digmm_taylor._equal_sizes(7, 3).tolist() == [3, 2, 2]


@pytest.mark.parametrize(
    ("parameters", "given", "message"),
    [
        ({"n_components": 7}, {}, "n_components must be even .* got 7"),
        ({"n_sketch": 1}, {}, "n_sketch must be at least 2.*got 1"),
        ({"truncation": 0}, {}, "truncation"),
        ({"noise": 0.0}, {}, "noise must be positive"),
        ({"concentration": 0.0}, {}, "concentration must be positive"),
        ({"tol": -1.0}, {}, "tol must be positive"),
        ({"n_starts": 0}, {}, "n_starts"),
        ({"max_iter": 0}, {}, "max_iter"),
        ({"inference": "laplace"}, {}, "inference must be an object .*, got .laplace"),
        ({"n_components": 8.0}, {}, r"n_components must be an even positive integer, got 8\.0"),
        ({"kernel": 3}, {}, "kernel must be a Kernel"),
        ({"kernel": "no such"}, {}, "no such"),
        ({"kernel": kernels.ShiftGaussian()}, {}, "Similarities must be symmetric.*differ by"),
        ({"kernel": lambda X, Y: np.ones((len(X), 1))}, {}, r"square matrix .* got \(20, 1\)"),
        ({"kernel": lambda X, Y: np.zeros((len(X), len(Y)))}, {}, "are zero.*larger n_sketch"),
        ({"kernel": lambda X, Y: np.full((len(X), len(Y)), np.nan)}, {}, "finite, got NaN"),
        ({"kernel": "precomputed"}, {}, "needs fit.X, similarity=S"),
        ({"kernel": "precomputed"}, {"similarity": np.ones((3, 3))}, r"\(60, 60\).*got \(3, 3\)"),
        ({"kernel": "precomputed"}, {"similarity": np.full((60, 60), np.nan)}, "similarity.*NaN"),
        ({"kernel": "precomputed"}, {"similarity": X @ [[0, 1], [0, 0]] @ X.T}, "symmetric"),
        ({"kernel": "precomputed"}, {"similarity": np.zeros((60, 60))}, "are zero"),
        ({"kernel": "gaussian"}, {"similarity": np.ones((60, 60))}, "requires kernel='precomp"),
    ],
)
def test_what_is_refused(parameters, given, message):
    with pytest.raises((ValueError, TypeError), match=message):
        (SimilarityFeatures if "inference" in parameters else model)(**parameters).fit(X, **given)


@pytest.mark.thorough
def test_similarities_that_no_kernel_explains_are_told():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 2))
    noise = rng.normal(size=(40, 40))
    unexplained = similarity_features("precomputed", 16, n_sketch=40, max_iter=20, random_state=0)
    with pytest.warns(UserWarning, match="fits the similarities poorly.*larger n_sketch"):
        unexplained.fit(X, similarity=noise + noise.T)


@pytest.mark.parametrize("way", [None, Taylor()])
def test_similarities_that_a_kernel_explains_are_taken_in_silence(way):
    X = np.random.default_rng(0).normal(size=(40, 2))
    fitted = SimilarityFeatures("gaussian", 16, n_sketch=20, inference=way, random_state=0)
    with warnings.catch_warnings(action="error"):
        fitted.fit(X)
