"""Bugs of weights that fall with age."""

import numpy as np
from mutants.registry import plant_edits
from numpy.testing import assert_allclose

from bochner import KreinRidge
from bochner.features.chunks import Chunk

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(40, 2)), RNG.normal(size=40)


def ridge():
    return KreinRidge(n_components=16, length_scale=1.0, random_state=0)


def check_forgetting():
    """Batches are one fit with a weight for each row of its age."""
    model = ridge().partial_fit(X[:15], Y[:15], forgetting=0.9)
    model.partial_fit(X[15:], Y[15:], forgetting=0.9)
    whole = ridge().fit(X, Y, 0.9 ** np.arange(40)[::-1])
    assert_allclose(model.predict(X), whole.predict(X), rtol=1e-8, atol=1e-10)


plant_edits(Chunk, "aged", check_forgetting, ages_reversed=("[::-1]", ""))
