"""Attention as a torch module, next to NumPy's and to exact attention."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.exceptions import NotFittedError

pytest.importorskip("torch")

import torch

from bochner import PositiveFeatures
from bochner.adapters.torch import PositiveAttention

D = 4


@pytest.fixture(scope="module")
def tokens():
    """Queries, keys and values of three sequences; 30 queries and 40 keys each."""
    rng = np.random.default_rng(0)
    shapes = ((30, D), (40, D), (40, 2))
    return [torch.as_tensor(rng.normal(0.5, 1.0, (3, *shape))) for shape in shapes]


def fitted(tokens, n_components=64, **settings):
    queries, keys, _ = (some.reshape(-1, some.shape[-1]).numpy() for some in tokens)
    features = PositiveFeatures(n_components, temperature=D**0.5, random_state=0, **settings)
    return features.fit(queries, right=keys)


@pytest.mark.parametrize("weights", ["sampled", "least_squares"])
def test_it_is_that_of_numpy(tokens, weights):
    features = fitted(tokens, weights=weights)
    averages = PositiveAttention(features, dtype=torch.float64)(*tokens)
    for found, *sequence in zip(averages, *tokens, strict=True):
        expected = features.attention(*(some.numpy() for some in sequence))
        assert_allclose(found, expected, rtol=1e-12, atol=1e-13)


def test_gradients_are_differences(tokens):
    attention = PositiveAttention(fitted(tokens, 16), dtype=torch.float64)
    some = [part[:1, :5].clone().requires_grad_() for part in tokens]
    assert torch.autograd.gradcheck(attention, some)


def test_far_rows_do_not_overflow(tokens):
    queries, keys, values = (some.float() for some in tokens)
    averages = PositiveAttention(fitted(tokens))(100.0 * queries, 100.0 * keys, values)
    low, high = values.amin(dim=1, keepdim=True), values.amax(dim=1, keepdim=True)
    slack = 1e-5  # float32: sums of 64 weights are one but for some units in the last place
    assert ((averages > low - slack) & (averages < high + slack)).all()


def test_what_is_wrong_is_named(tokens):
    with pytest.raises(TypeError, match="model must be fitted PositiveFeatures"):
        PositiveAttention("favor")
    with pytest.raises(NotFittedError):
        PositiveAttention(PositiveFeatures(8))
    queries, keys, values = tokens
    attention = PositiveAttention(fitted(tokens), dtype=torch.float64)
    with pytest.raises(TypeError, match=r"keys are torch.float32.*float64"):
        attention(queries, keys.float(), values)
    with pytest.raises(
        ValueError, match=r"queries must have shape \(\.\.\., 4\), got \(3, 30, 3\)"
    ):
        attention(queries[..., :3], keys, values)
    with pytest.raises(ValueError, match=r"queries must have shape \(\.\.\., n, 4\)"):
        attention(queries[0, 0], keys, values)
    with pytest.raises(ValueError, match="values must have one row for each of 40 keys"):
        attention(queries, keys, values[:, :30])
