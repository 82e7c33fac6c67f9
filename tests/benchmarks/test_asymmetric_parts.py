"""The benchmark of asymmetric kernels: its design, its masses and its directed graphs."""

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import norm

from benchmarks.asymmetric import design, direction
from benchmarks.asymmetric.measures import mass_metrics

MANY_SIGMAS = norm.isf(1e-6)


# The design.


def test_the_parameters_of_the_kernels():
    """r = 2/d, beta = 0.5 pi/d and sigma = 2, in d = 8."""
    x, y = np.full((1, 8), 0.75), np.full((1, 8), 0.25)
    gaussian = np.exp(-8 * 0.5**2 / 8.0)
    tilt = 8 * 0.5 * (0.5 * np.pi / 8)
    expected = {
        design.SHIFT: np.exp(-8 * 0.75**2 / 8.0),
        design.SINH: gaussian * (1.0 + np.sinh(tilt)),
        design.COSH: gaussian * np.exp(tilt),
        design.GAUSSIAN: gaussian,
    }
    for label, value in expected.items():
        assert design.KERNELS[label](8)(x, y)[0, 0] == pytest.approx(value, rel=1e-12)


@pytest.mark.parametrize("n_parts", [2, 3])
def test_sets_of_equal_size(n_parts):
    kernel = design.KERNELS[design.SINH if n_parts == 2 else design.COSH](4)
    found = design.EqualSets(kernel, 32, 0).fit(np.zeros((3, 4))).frequencies_
    kinds = np.sign(found.weight) * np.where(found.phase == 0.0, 1, 2)
    counts = np.unique(
        np.abs(kinds) * np.where(found.phase == 0.0, np.sign(kinds), 1), return_counts=True
    )[1]
    assert counts.sum() == 32
    assert sorted(counts) == ([16, 16] if n_parts == 2 else [10, 11, 11])


def test_sets_of_equal_size_estimate_the_kernel():
    X = np.random.default_rng(0).random((6, 4))
    kernel = design.KERNELS[design.COSH](4)
    draws = np.stack([design.EqualSets(kernel, 48, seed).fit(X).gram(X) for seed in range(400)])
    z = (draws.mean(axis=0) - kernel(X)) / (draws.std(axis=0, ddof=1) / np.sqrt(len(draws)))
    assert np.abs(z).max() < MANY_SIGMAS


# Masses.


def densities(label):
    """The measure's density in one dimension, from the closed forms of the paper."""
    if label == design.SHIFT:
        return lambda w: np.cos(2.0 * w), lambda w: np.sin(2.0 * w)
    slope = 4.0 * 0.5 * np.pi
    c = np.exp(0.5 * (2.0 * 0.5 * np.pi) ** 2)
    real = (lambda w: 1.0) if label == design.SINH else (lambda w: c * np.cos(slope * w))
    return real, lambda w: -c * np.sin(slope * w)


@pytest.mark.parametrize("method", [design.SERIES, design.QUADRATURE])
@pytest.mark.parametrize("label", design.ASYMMETRIC)
def test_exact_masses(label, method):
    real, imaginary = densities(label)
    parts = (
        lambda w: max(real(w), 0.0), lambda w: max(-real(w), 0.0), lambda w: max(imaginary(w), 0.0)
    )  # fmt: skip
    expected = [
        quad(lambda w, part=part: part(w) * norm.pdf(w, scale=0.5), -5, 5, limit=2_000)[0]
        for part in parts
    ]
    found = mass_metrics(label, method, 2, 0)
    assert list(found) == list(design.MASS_NAMES)
    np.testing.assert_allclose(list(found.values()), expected, rtol=1e-6, atol=1e-9)


def test_fitted_masses_scatter_about_the_exact_ones():
    """With many frequencies; a lost factor of two is many standard errors off."""
    exact = mass_metrics(design.SHIFT, design.SERIES, 2, 0)
    fits = [mass_metrics(design.SHIFT, design.FITTED, 1_024, seed) for seed in range(20)]
    for name in design.MASS_NAMES:
        values = np.array([fit[name] for fit in fits])
        assert 0.0 < values.std() < 0.3 * exact["imaginary"]
        error = values.std(ddof=1) / np.sqrt(len(values))
        assert abs(values.mean() - exact[name]) < MANY_SIGMAS * error
    for fit in fits:
        value_at_zero = fit["real positive"] - fit["real negative"]
        assert value_at_zero == pytest.approx(np.exp(-0.5), rel=1e-6)


# Directed graphs.


def test_loops_and_edges_in_both_orders_are_dropped():
    edges = np.array([[3, 1], [1, 3], [2, 2], [0, 1], [0, 1], [4, 0]])
    assert direction.one_way(edges).tolist() == [[0, 1], [4, 0]]


def save_graph(path, **without):
    arrays = {
        "edges": np.array([[0, 1], [1, 0], [1, 2], [2, 2]], dtype=np.int16),
        "X_indices": np.array([0, 2, 1], dtype=np.int16),
        "X_indptr": np.array([0, 2, 3, 3]),
        "X_shape": np.array([3, 3]),
    }
    np.savez(path / "toy.npz", **{k: v for k, v in arrays.items() if k not in without})


def test_a_graph_is_read(tmp_path):
    save_graph(tmp_path)
    graph = direction.read_graph("toy", tmp_path)
    assert graph.features.toarray().tolist() == [[1, 0, 1], [0, 1, 0], [0, 0, 0]]
    assert graph.edges.tolist() == [[1, 2]]


def test_what_is_no_graph_is_refused(tmp_path):
    with pytest.raises(ValueError, match=r"toy\.npz, which does not exist"):
        direction.read_graph("toy", tmp_path)
    save_graph(tmp_path, edges=None)
    with pytest.raises(ValueError, match="it lacks edges"):
        direction.read_graph("toy", tmp_path)


def test_edges_are_split_and_features_fitted_to_the_training_part():
    train, test = direction.edges_of(direction.GENERATED, 0, None)
    everything = np.concatenate((train.nodes, test.nodes))
    assert sorted(map(tuple, everything)) == sorted(map(tuple, direction.generated_graph().edges))
    assert len(train) == int(0.8 * len(everything))
    assert train.source.shape == train.target.shape == (len(train), 50)
    features = {}
    for part in (train, test):
        for nodes, rows in ((part.nodes[:, 0], part.source), (part.nodes[:, 1], part.target)):
            for node, row in zip(nodes.tolist(), rows, strict=True):
                assert np.array_equal(features.setdefault(node, row), row)
    touched = np.stack([features[node] for node in np.unique(train.nodes).tolist()])
    np.testing.assert_allclose(touched.mean(axis=0), 0.0, atol=1e-10)
    np.testing.assert_allclose(touched.std(axis=0), 1.0)


@pytest.mark.parametrize("method", direction.MODELS)
def test_a_reversed_edge_has_the_opposite_answer(method):
    train, test = direction.edges_of(direction.GENERATED, 0, None)
    score, _ = direction.MODELS[method](train[:300], 0)
    back = direction.Edges(test.target, test.source, test.nodes[:, ::-1])
    np.testing.assert_allclose(score(back), -score(test), rtol=1e-9, atol=1e-9)
    assert direction.accuracy(score, test) + direction.accuracy(score, back) == pytest.approx(1.0)


def test_what_is_symmetric_finds_no_direction_and_others_do():
    """Edges of the generated graph run towards one direction of words."""
    train, test = direction.edges_of(direction.GENERATED, 0, None)
    assert direction.direction_metrics(train, test, direction.SYMMETRISED_ALONE, 0) == {
        "accuracy": 0.5
    }
    for method, least in (
        (direction.SHIFT_ALONE, 0.65),
        (direction.LOGISTIC, 0.75),
        (direction.TREES, 0.75),
    ):
        assert direction.direction_metrics(train, test, method, 0)["accuracy"] > least


def test_degrees_by_hand():
    X = np.zeros((3, 2))
    train = direction.Edges(X, X, np.array([[0, 1], [0, 2], [3, 1]]))
    test = direction.Edges(
        X[:2], X[:2], np.array([[0, 1], [5, 6]])
    )  # two out and none in; unknown nodes
    score, _ = direction.MODELS[direction.DEGREES](train, 0)
    assert score(test).tolist() == [4.0, 0.0]
    assert direction.accuracy(score, test) == 0.75
