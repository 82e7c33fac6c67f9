"""SequenceFeatures: kernels by brute force, invariances, what is taken and what is refused."""

from functools import cache
from itertools import combinations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import norm
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.pipeline import make_pipeline

import bochner
from bochner import FourierFeatures
from bochner.experimental import SequenceFeatures, sequence_maps
from bochner.kernels import DeltaGaussian, Gaussian, Laplacian, ShiftGaussian, Tanh

RNG = np.random.default_rng(0)
SHORT = [RNG.normal(size=(length, 2)) for length in (5, 3, 4)]
LONG = [RNG.normal(size=(length, 3)) for length in (30, 7, 12, 4, 18)]
WORDS = ["kernel", "colonel", "wavelet", "waves"]
MIXTURE = 0.5 * Gaussian(0.7) + 0.5 * Laplacian(30.0)
ERROR = 1e-6
"""Chance that a right estimate fails one of the tests of means in this file."""

TESTS = 5
"""Tests of means in this file."""


def windows_of(points, window):
    return np.array([points[i : i + window].ravel() for i in range(len(points) - window + 1)])


def windows_kernel(kernel, x, y, window):
    return kernel(windows_of(x, window), windows_of(y, window)).mean()


def signature_kernel(kernel, x, y, weights):
    """Return the sum over all increasing tuples of places, as the formula has it."""
    gram = kernel(x, y)
    increments = np.diff(np.diff(gram, axis=0), axis=1)
    total = weights[0]
    for level in range(1, len(weights)):
        for i in combinations(range(len(x) - 1), level):
            for j in combinations(range(len(y) - 1), level):
                total += weights[level] * np.prod(increments[list(i), list(j)])
    return total


def assert_means(terms, expected):
    """Check means of independent estimates (repeats, values), with a chance of error for all."""
    spread = terms.std(axis=0, ddof=1) / np.sqrt(len(terms))
    bound = norm.isf(ERROR / TESTS / terms.shape[1] / 2.0)
    away = np.abs(terms.mean(axis=0) - expected) > bound * spread + 1e-12
    assert not away.any(), (terms.mean(axis=0), expected, spread)


def products(features, n_first, m):
    """Return the products of two sequences' features, summed for each of m frequencies."""
    left, right = features[:, n_first:]
    return (left * right).reshape(-1, m).sum(axis=0) * m


PAIRS = list(combinations(range(3), 2))


def assert_signature():
    """Independent frequencies each give an estimate of every level."""
    kernel, weights, m = Gaussian(0.8), (0.5, 2.0, 1.0, 3.0), 20_000
    model = SequenceFeatures(
        kernel,
        14 * m + 1,
        method="signature",
        depth=3,
        level_weights=weights,
        scheme="iid",
        random_state=1,
    )
    Z = model.fit_transform(SHORT)
    levels = np.split(Z, [1, 1 + 2 * m, 1 + 6 * m], axis=1)
    assert_allclose(levels[0], np.sqrt(0.5))
    for level in (1, 2, 3):
        only = np.where(np.arange(4) == level, weights, 0.0)
        terms = [products(levels[level][list(pair)], 0, m) for pair in PAIRS]
        expected = [signature_kernel(kernel, SHORT[i], SHORT[j], only) for i, j in PAIRS]
        assert_means(np.transpose(terms), expected)


def test_the_signature_is_unbiased_at_every_level():
    assert_signature()


def assert_dependent_frequencies():
    """Frequencies of one factor that depend on one another need random orders.

    Each part of the mixture has its share of them, side by side.
    """
    weights, X = (0.0, 0.0, 1.0), SHORT[:2]
    exact = [signature_kernel(MIXTURE, X[0], other, weights) for other in X]
    found = []
    for seed in range(200):
        model = SequenceFeatures(
            MIXTURE, 193, method="signature", level_weights=weights, random_state=seed
        )
        found.append(model.fit(X).gram(X)[0])
    assert_means(np.array(found), exact)


def test_the_signature_is_unbiased_with_dependent_frequencies():
    assert_dependent_frequencies()


def assert_windows():
    kernel, m = Gaussian(1.2), 20_000
    model = SequenceFeatures(kernel, 2 * m, window=2, scheme="iid", random_state=2)
    Z = model.fit_transform(SHORT)
    terms = np.transpose([products(Z[list(pair)], 0, m) for pair in PAIRS])
    assert_means(terms, [windows_kernel(kernel, SHORT[i], SHORT[j], 2) for i, j in PAIRS])
    return terms


def test_windows_are_unbiased():
    assert_windows()


def test_the_variance_of_windows_is_that_of_the_page():
    terms, kernel = assert_windows(), Gaussian(1.2)
    zero = np.zeros((1, 4))
    for place, (i, j) in enumerate(PAIRS):
        x, y = windows_of(SHORT[i], 2), windows_of(SHORT[j], 2)
        lags = (x[:, None] - y[None]).reshape(-1, 4)
        sums = kernel((lags[:, None] + lags[None]).reshape(-1, 4), zero)
        differences = kernel((lags[:, None] - lags[None]).reshape(-1, 4), zero)
        expected = 0.5 * (sums.mean() + differences.mean()) - kernel(x, y).mean() ** 2
        squares = (terms[:, place] - terms[:, place].mean()) ** 2
        spread = squares.std() / np.sqrt(len(squares))
        assert abs(squares.mean() - expected) < norm.isf(ERROR / 6) * spread


@pytest.mark.parametrize("X", [LONG, WORDS], ids=["numbers", "strings"])
def test_windows_are_means_of_the_kernels_own_features(X, monkeypatch):
    monkeypatch.setattr(sequence_maps.limits, "BLOCK_BYTES", 2000)  # A few windows to a block
    model = SequenceFeatures(n_components=16, window=4, random_state=0).fit(X)
    own = FourierFeatures.of(model.map_.frequencies, model.kernel_)
    expected = []
    for sequence in X:
        if isinstance(sequence, str):
            letters = np.array([model.alphabet_.index(letter) for letter in sequence])
            sequence = np.eye(len(model.alphabet_) + 1)[letters]
        expected.append(own.transform(windows_of(sequence, 4)).mean(axis=0))
    assert_allclose(model.transform(X), expected, atol=1e-14)


def test_a_gaussian_of_letters_counts_mismatches():
    scale = 0.9
    model = SequenceFeatures(n_components=20_000, length_scale=scale, random_state=0).fit(WORDS)
    exact = np.zeros((4, 4))
    for a, left in enumerate(WORDS):
        for b, right in enumerate(WORDS):
            mismatches = [
                sum(p != q for p, q in zip(left[i : i + 3], right[j : j + 3], strict=True))
                for i in range(len(left) - 2)
                for j in range(len(right) - 2)
            ]
            exact[a, b] = np.exp(-np.array(mismatches) / scale**2).mean()
    assert_allclose(model.gram(WORDS), exact, atol=0.05)  # Seven deviations, 0.7 / 100 each
    unknown = model.gram(["xyz"], ["xyz", "zyx", "ker"])[0]
    assert_allclose(unknown, [1.0, 1.0, np.exp(-3.0 / scale**2)], atol=0.05)


def signature(**parameters):
    return SequenceFeatures(
        n_components=211, method="signature", depth=3, random_state=0, **parameters
    )


def assert_pauses():
    model = signature().fit(LONG)
    slow = [np.repeat(x, RNG.integers(1, 4, len(x)), axis=0) for x in LONG]
    assert_allclose(model.transform(slow), model.transform(LONG), atol=1e-12)


def test_the_signature_ignores_speed():
    assert_pauses()


def test_the_signature_depends_on_order_and_windows_hardly_do():
    first, second = LONG[2], LONG[4]
    ways = [np.concatenate((first, second)), np.concatenate((second, first))]
    model = signature().fit(LONG)
    one, other = model.transform(ways)
    edges = model.map_.edges
    assert np.abs(one - other)[edges[2] :].max() > 0.01
    # Windows of one point have no order at all.
    points = SequenceFeatures(n_components=64, window=1, random_state=0).fit(LONG)
    assert_allclose(*points.transform(ways), atol=1e-12)


def test_a_closed_path_has_no_first_level():
    loop = [np.concatenate((LONG[0], LONG[0][:1]))]
    model = signature().fit(LONG)
    assert_allclose(model.transform(loop)[:, 1 : model.map_.edges[2]], 0.0, atol=1e-12)


def assert_blocks(method="signature"):
    model = SequenceFeatures(n_components=211, method=method, random_state=0).fit(LONG)
    whole = model.transform(LONG)
    assert_allclose(np.concatenate([model.transform([x]) for x in LONG]), whole, atol=1e-12)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sequence_maps.limits, "BLOCK_BYTES", 4000)
        assert_allclose(model.transform(LONG), whole, atol=1e-12)
    single = model.transform([x.astype(np.float32) for x in LONG])
    assert single.dtype == np.float32
    assert_allclose(single, whole, atol=1e-4)


def test_blocks_and_company_do_not_matter():
    assert_blocks()
    assert_blocks("windows")


def test_levels_have_norms_of_one_on_average():
    model = signature().set_params(n_components=4201).fit(LONG)
    Z = model.transform(LONG)
    norms = [np.mean(np.sum(part**2, axis=1)) for part in np.split(Z, model.map_.edges[1:-1], 1)]
    assert_allclose(norms, 1.0, rtol=0.5)


def assert_zero_levels():
    """Rounding of a level that is zero must not become a feature."""
    assert_array_equal(signature().fit([np.ones((4, 2))]).map_.weights, [1.0, 0.0, 0.0, 0.0])
    loops = signature().fit([np.concatenate((x, x[:1])) for x in LONG])
    assert_array_equal(loops.map_.weights > 0.0, [True, False, True, True])
    near = signature(length_scale=100.0).fit(LONG)  # Levels are small, and not zero
    assert (near.map_.weights[1:] > 1.0).all()


def test_levels_that_are_zero_have_no_weight():
    assert_zero_levels()


def test_arrays_and_lists_are_the_same():
    cube = RNG.normal(size=(6, 5, 2))
    model = SequenceFeatures(n_components=8, random_state=0).fit(cube)
    assert_array_equal(model.transform(list(cube)), model.transform(cube))
    plane = RNG.integers(0, 9, size=(6, 5))
    model = SequenceFeatures(n_components=8, random_state=0).fit(plane)
    assert_array_equal(model.transform(plane.tolist()), model.transform(plane[..., None]))
    model = SequenceFeatures(n_components=8, random_state=0).fit(WORDS)
    assert_array_equal(model.transform(np.array(WORDS)), model.transform(WORDS))


@cache
def fitted(kind):
    return SequenceFeatures(n_components=8).fit(LONG if kind == "numbers" else WORDS)


@pytest.mark.parametrize(
    ("X", "error", "message"),
    [
        ([], ValueError, "X has no sequences: expected a list of arrays"),
        (np.empty((0, 4, 2)), ValueError, "X has no sequences"),
        (np.empty((4, 3, 0)), ValueError, "Sequences of X have no columns"),
        ([[1.0, 2.0], {"a": 1.0}], TypeError, "Sequence 1 of X must hold numbers"),
        (np.ones(4), ValueError, r"X is an array of shape \(4,\).*Give \[X\]"),
        ("kernel", TypeError, "X is of type str: expected a list of arrays"),
        (7, TypeError, "X is of type int"),
        (iter(["abc", "abcd"]), TypeError, "X can be read only once"),
        ({"a": [1.0]}, TypeError, "X is a dict"),
        ({"abc", "abcd"}, TypeError, "X is of type set, which has no order"),
        ([np.ones((4, 2)), "kernel"], TypeError, "X mixes strings with other rows"),
        ([np.ones((4, 2)), np.ones((0, 2))], ValueError, "Sequence 1 of X is empty"),
        (["kernel", ""], ValueError, "Sequence 1 of X is empty"),
        ([np.ones((4, 2)), np.ones((4, 3))], ValueError, "Sequence 1 of X has 3 columns"),
        ([np.ones((4, 2, 1))], ValueError, r"Sequence 0 of X has shape \(4, 2, 1\)"),
        ([np.ones(4), np.array([1.0, np.nan, 1.0])], ValueError, "Sequence 1 of X contains NaN"),
        ([[1.0, "a", 2.0]], ValueError, "Sequence 0 of X must hold numbers, got"),
        ([[1.0, 2.0, 1j]], ValueError, "Complex data not supported: Sequence 0 of X"),
        ([np.full(4, 1e200)], ValueError, "Entries of X must be at most"),
        ([np.ones((4, 2)), np.ones((2, 2))], ValueError, "Sequence 1 of X has length 2, shorter"),
        (["kernel", "as"], ValueError, "length 2, shorter than window=3"),
    ],
)
def test_refused_sequences(X, error, message):
    with pytest.raises(error, match=message):
        SequenceFeatures(n_components=8).fit(X)


@pytest.mark.parametrize(
    ("kind", "X", "error", "message"),
    [
        ("numbers", WORDS, TypeError, "X holds strings, but fit was given numbers"),
        ("strings", LONG, TypeError, "X holds numbers, but fit was given strings"),
        ("numbers", SHORT, ValueError, "have 2 columns, but fit was given 3"),
        ("numbers", [LONG[0][:2]], ValueError, "Sequence 0 of X has length 2, shorter"),
    ],
)
def test_refused_sequences_of_another_kind(kind, X, error, message):
    with pytest.raises(error, match=message):
        fitted(kind).transform(X)


@pytest.mark.parametrize(
    ("parameters", "error", "message"),
    [
        ({"method": "dtw"}, ValueError, "method must be one of 'windows', 'signature'"),
        ({"window": 0}, ValueError, "window must be at least 1"),
        ({"n_components": 1}, ValueError, "n_components must be at least 2"),
        ({"kernel": Tanh()}, ValueError, "kernel must have a positive measure in closed form"),
        ({"kernel": DeltaGaussian()}, ValueError, "kernel must have a positive measure"),
        ({"kernel": ShiftGaussian(1.0, 0.5)}, ValueError, "kernel must have a positive measure"),
        ({"kernel": np.dot}, TypeError, "kernel must be a Kernel or the name of one"),
        ({"dtype": "int"}, ValueError, "dtype must be None"),
        ({"method": "signature", "n_components": 6}, ValueError, "must be at least 7"),
        ({"method": "signature", "depth": 11}, ValueError, "depth must be at most 10"),
        ({"method": "signature", "level_weights": "even"}, ValueError, "must be one of 'auto'"),
        ({"method": "signature", "level_weights": [1.0]}, ValueError, r"must have shape \(3,\)"),
        ({"method": "signature", "level_weights": [1, -1, 0]}, ValueError, "not be negative"),
    ],
)
def test_refused_parameters(parameters, error, message):
    with pytest.raises(error, match=message):
        SequenceFeatures(**{"n_components": 8, "random_state": 0, **parameters}).fit(LONG)


@pytest.mark.parametrize("X", [LONG, WORDS], ids=["numbers", "strings"])
@pytest.mark.parametrize("method", ["windows", "signature"])
def test_pipelines_and_files(X, method, tmp_path):
    features = SequenceFeatures(n_components=16, method=method, random_state=0)
    for head, y in ((Ridge(), range(len(X))), (LogisticRegression(), np.arange(len(X)) % 2)):
        model = make_pipeline(clone(features), head).fit(X, list(y))
        bochner.save(model, tmp_path / "model")
        assert_array_equal(bochner.load(tmp_path / "model").predict(X), model.predict(X))
    bochner.save(model[0], tmp_path / "features")
    again = bochner.load(tmp_path / "features")
    assert_array_equal(again.transform(X), model[0].transform(X))
    assert again.get_params() == features.get_params()
    assert_array_equal(features.fit(X).transform(X), model[0].transform(X))
    names = again.get_feature_names_out()
    assert len(names) == again.transform(X).shape[1]
    assert names[0] == "sequencefeatures0"
    frame = features.set_output(transform="pandas").transform(X)
    assert list(frame.columns) == list(names)


def test_parts_that_do_not_fit_are_not_saved(tmp_path):
    model = SequenceFeatures(n_components=8, random_state=0).fit(LONG)
    model.n_columns_ = 2
    with pytest.raises(ValueError, match="do not fit together"):
        bochner.save(model, tmp_path / "model")
