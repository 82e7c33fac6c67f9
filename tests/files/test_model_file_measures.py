"""Designed, split and fitted features come back as they were saved."""

import warnings

import numpy as np
import pytest
from files.same import round_trip
from numpy.testing import assert_array_equal

from bochner import FourierFeatures, kernels
from bochner.features.approximation import Region
from bochner.spectral import Jordan
from bochner.spectral.decompositions import DECOMPOSITIONS, Auto, Designed, Polar

RNG = np.random.default_rng(0)
X = RNG.random(size=(60, 5))


def test_regions_come_back(tmp_path):
    region = Region(np.array([1.0, -2.0]), 0.5, 1.5)
    loaded = round_trip(region, tmp_path)
    assert_array_equal(loaded.centre, region.centre)
    assert (loaded.least, loaded.greatest) == (0.5, 1.5)


@pytest.mark.parametrize(
    "decomposition", [Auto(), Designed(), Polar(), Jordan(), Jordan(7.5)], ids=repr
)
def test_decompositions_come_back_equal(decomposition, tmp_path):
    assert {type(value) for value in DECOMPOSITIONS.values()} == {Auto, Designed, Jordan, Polar}
    assert round_trip(decomposition, tmp_path) == decomposition
    model = FourierFeatures(kernels.NTK(), decomposition=decomposition)
    assert round_trip(model, tmp_path).decomposition == decomposition


@pytest.mark.thorough
def test_loaded_features_still_warn_of_far_rows(tmp_path):
    loaded = round_trip(FourierFeatures(kernels.TL1(3.0), 32, random_state=0).fit(X), tmp_path)
    with warnings.catch_warnings(action="error"):
        loaded.transform(X)
    with pytest.warns(UserWarning, match="60 of 60 rows lie outside the region"):
        loaded.transform(X + 50.0)
