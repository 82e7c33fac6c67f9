"""Bugs that send rows of a table to another side than rows of the fit."""

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from mutants.registry import replaces
from tables import test_training_rows as laws

from bochner.tables import table_model, tree_growth


def check_bits():
    with TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        laws.check_bits(patch, Path(folder))


@replaces(table_model, "side_by_side", check_bits)
def new_rows_are_not_rounded(encoders, X):
    return np.hstack([encoder.transform(X) for encoder in encoders])


@replaces(tree_growth, "_edges", laws.test_frequent_numbers_stay_on_their_side)
def thresholds_on_entries(most_bins, entries, counts):
    return entries[: -1 : len(entries) // (most_bins - 1) + 1]
