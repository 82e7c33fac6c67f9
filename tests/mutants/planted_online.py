"""Bugs of weights that fall with age and of rows that are taken out."""

import numpy as np
from mutants.registry import plant_edits
from numpy.testing import assert_allclose

from bochner import KreinRidge
from bochner.features.chunks import Chunk
from bochner.features.row_sums import FeatureSums
from bochner.linear.ridge_head import RidgeHead

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


def check_window():
    """Without some rows, a model and its noise are those of the others."""
    model, window = ridge().fit(X, Y).forget(X[:15], Y[:15]), ridge().fit(X[15:], Y[15:])
    assert_allclose(model.predict(X), window.predict(X), rtol=1e-8, atol=1e-10)
    assert_allclose(model.noise_variance_, window.noise_variance_)
    assert model.sums_.n_samples == 25


plant_edits(Chunk, "aged", check_forgetting, ages_reversed=("[::-1]", ""))
plant_edits(RidgeHead, "_add_rows", check_forgetting,
    a_batch_as_one_row=("forgetting ** len(rows)", "forgetting"))  # fmt: skip
plant_edits(RidgeHead, "_remove_rows", check_window,
    rows_added_in_place_of_removed=("before - self._sums_of", "before + self._sums_of"),
)  # fmt: skip
plant_edits(FeatureSums, "__sub__", check_window,
    a_number_of_all_rows=("self.n_samples - other.n_samples,", "self.n_samples,"))  # fmt: skip
