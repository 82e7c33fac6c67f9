"""Bugs of weights that fall with age and of rows that are taken out."""

import numpy as np
from mutants.registry import plant_edits
from numpy.testing import assert_allclose

from bochner import KreinRidge
from bochner.features import fading as mixtures
from bochner.features.chunks import Chunk
from bochner.features.fading import FadingFeatures
from bochner.features.stats import FeatureSums
from bochner.linear import faded_features as fading
from bochner.linear.online_head import OnlineHead

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


def refreshed():
    """A model with other features since half of its rows, and both sets of features."""
    model = ridge().partial_fit(X[:20], Y[:20], forgetting=0.95)
    model.refresh(X, Y, length_scale=0.5, random_state=1, tolerance=0.0)
    features = model.fading_.earlier, model.fading_.later
    return model.partial_fit(X[20:], Y[20:], forgetting=0.95), *features


def check_refresh():
    """The function after a refresh is a share of the one before it and one of new features."""
    model, earlier, later = refreshed()
    weight = 0.95 ** np.arange(40.0)[::-1]
    s, after = weight[:20].sum() / weight.sum(), np.arange(40) >= 20
    root = np.where(after, np.sqrt(s), 1.0)
    K = np.outer(root, root) * earlier.gram(X)
    K += (1.0 - s) * np.outer(after, after) * later.gram(X)
    cross = np.sqrt(s) * earlier.gram(X) * root + (1.0 - s) * after * later.gram(X)
    mean = cross @ np.linalg.solve(K + np.diag(1.0 / weight), Y)
    assert_allclose(model.predict(X), mean, rtol=1e-8, atol=1e-10)


def check_dropped():
    """Predictions at the rows since a refresh change as the model reports."""
    model, *_ = refreshed()
    before, since, state = model.posterior_, model.sums_, model.fading_
    later = model._solve(state.later_sums(since), state.later, state.later_checks, 1.0)
    weight = 0.95 ** np.arange(20.0)[::-1]
    mean, rest = model.predict(X[20:]), later.mean(state.later.features(X[20:]))[:, 0]
    change = np.sqrt(weight @ (mean - rest) ** 2 / (weight @ (Y[20:] - rest) ** 2))
    both = (state.later + state.later_checks).features(X[20:])
    variances = model.predict(X[20:], True)[1] ** 2, later.law.std(both) ** 2
    ratio = 0.5 * np.log((weight @ variances[0]) / (weight @ variances[1][:, 0]))
    found = fading.prediction_change(state, since, before, later)
    assert_allclose(found, max(change, abs(ratio)), rtol=1e-8)


plant_edits(Chunk, "aged", check_forgetting, ages_reversed=("[::-1]", ""))
plant_edits(
    OnlineHead,
    "_add_rows",
    check_forgetting,
    a_batch_as_one_row=("forgetting ** len(rows)", "forgetting"),
)
plant_edits(
    OnlineHead,
    "_remove_rows",
    check_window,
    rows_added_in_place_of_removed=("sums - self._sums_of", "sums + self._sums_of"),
)
plant_edits(
    FeatureSums,
    "__sub__",
    check_window,
    a_number_of_all_rows=("self.n_samples - other.n_samples,", "self.n_samples,"),
)
plant_edits(
    FadingFeatures,
    "factors",
    check_refresh,
    a_share_in_place_of_its_root=("= np.sqrt(share)", "= share"),
)
plant_edits(
    FadingFeatures,
    "total",
    check_refresh,
    earlier_rows_of_the_present_function=("+= before.gram", "+= share * before.gram"),
)
plant_edits(
    mixtures,
    "_mixture",
    check_refresh,
    shares_exchanged=("earlier.with_weights(share *", "earlier.with_weights((1 - share) *"),
)
plant_edits(
    OnlineHead,
    "_add_rows",
    check_refresh,
    earlier_rows_that_do_not_age=("fading.aged(factor)", "fading"),
)
plant_edits(
    fading,
    "prediction_change",
    check_dropped,
    weights_of_unit_shares=(" / np.sqrt(1.0 - share)", ""),
)
