"""Ridge regression on Dask collections is that on the same rows in memory."""

import dask.array as da
import numpy as np
import pytest
from engines.rows import NEW, SIGNAL, WEIGHT, X, Y, arrays, frames, relative_error
from flat_parameters import flat

from bochner import KreinRidge
from bochner.kernels import DeltaGaussian

EXACT = 1e-10
RIDGES = {
    "weights": ({"fit_intercept": True}, Y + 5.0, WEIGHT),
    "indefinite": ({"kernel": DeltaGaussian(1.0, 3.0)}, Y, WEIGHT),
    "two targets": ({}, np.column_stack((Y, SIGNAL)), None),
}


def ridge(**parameters):
    return flat(KreinRidge, **{"n_components": 64, "random_state": 1, **parameters})


@pytest.mark.thorough_cases("indefinite")
@pytest.mark.parametrize("case", RIDGES)
def test_sums_of_partitions_give_the_fit_in_memory(case, dask_place):
    parameters, y, weight = RIDGES[case]
    here = ridge(**parameters).fit(X, y, weight)
    there = ridge(**parameters).fit(*arrays(y, weight))
    assert relative_error(there.predict(NEW), here.predict(NEW)) < EXACT
    assert there.sums_.n_samples == here.sums_.n_samples
    if case != "indefinite":
        expected = here.predict(NEW, return_std=True)[1]
        assert relative_error(there.predict(NEW, return_std=True)[1], expected) < EXACT


def test_the_evidence_chooses_the_same_alpha(dask_place):
    """To what a search for the top of a smooth function can tell: the root of rounding."""
    here = ridge(alpha="evidence").fit(X, Y)
    there = ridge(alpha="evidence").fit(*arrays(Y))
    assert relative_error(there.alpha_, here.alpha_) < 1e-6
    assert relative_error(there.predict(NEW), here.predict(NEW)) < 1e-7
    given = ridge(alpha=here.alpha_)
    assert relative_error(given.fit(*arrays(Y)).predict(NEW), here.predict(NEW)) < EXACT


def test_data_frames_are_fitted_by_their_partitions(dask_place):
    here = ridge().fit(X, Y, WEIGHT)
    there = ridge().fit(*frames(Y, WEIGHT))
    assert relative_error(there.coef_, here.coef_) < EXACT
    assert there.feature_names_in_.tolist() == ["a", "b", "c"]


def test_partitions_without_rows_or_weight_count_for_nothing(dask_place):
    weight = np.where(np.arange(len(X)) < 60, 0.0, 1.0)
    cut = da.from_array(weight, chunks=60)
    there = ridge().fit(da.from_array(X, chunks=60), da.from_array(Y, chunks=60), cut)
    assert relative_error(there.coef_, ridge().fit(X, Y, weight).coef_) < EXACT
    table, y, _ = frames(Y)
    few = table["a"] > -99.0
    far = table["a"] > 99.0
    assert relative_error(ridge().fit(table[few], y[few]).coef_, ridge().fit(X, Y).coef_) < EXACT
    with pytest.raises(ValueError, match="no rows"):
        ridge().fit(table[far], y[far])
