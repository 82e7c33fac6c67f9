"""Numbers too large or too small to be squared, and entries that are no numbers."""

import datetime
import re
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import BaseEstimator
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

import bochner
from bochner._base import checks as checked
from bochner._base.limits import LARGEST_ENTRY

X = np.random.default_rng(0).normal(size=(6, 2))


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array, sparse.csc_matrix])
def test_rows_beyond_the_limit(kind):
    far = X.copy()
    far[3, 1] = -2.0 * LARGEST_ENTRY
    with pytest.raises(ValueError, match=r"Entries of Y must be at most 1e\+150.* got 2e\+150"):
        checked.check_rows_given(kind(far), "Y", accept_sparse="csr")
    checked.check_rows_given(kind(far / 2.0), accept_sparse="csr")


def test_rows_that_are_learned_from_are_not_all_tiny():
    tiny = X / X.max() / LARGEST_ENTRY / 2.0
    with pytest.raises(ValueError, match=r"largest entry of X must be at least 1e-150"):
        checked.validated(BaseEstimator(), tiny)
    checked.validated(BaseEstimator(), np.zeros((3, 2)))
    model = BaseEstimator()
    checked.validated(model, X)
    checked.validated(model, tiny, reset=False)


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([1.0, "a"], "'a' of type str"),
        ([1.0, None], "None of type NoneType"),
        (["1", "2"], "'1' of type str"),
    ],
)
def test_targets_that_are_no_numbers(y, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        checked.numbers(np.array(y, dtype=object))


def test_durations_need_a_unit():
    with pytest.raises(ValueError, match=r"got durations. Divide them by their unit"):
        checked.numbers(np.arange(6).astype("m8[h]"))


def test_numbers_of_any_type_are_targets():
    given = [Fraction(1, 2), 2**70, Decimal("0.25")]
    assert checked.numbers(given).tolist() == [0.5, 2.0**70, 0.25]


@pytest.mark.parametrize(
    "y", [["a", np.nan], ["a", None], ["a", 1], [True, "x"], ["a", pd.NaT], ["a", pd.NA]]
)
@pytest.mark.parametrize("form", [list, tuple, pd.Series])
def test_missing_labels_and_labels_of_two_kinds_are_no_text(y, form):
    with pytest.raises(ValueError, match=r"labels of one kind.*got"):
        checked.labels(form(y))
    text = ["a", np.str_("b")]
    assert list(checked.labels(form(text))) == text


@pytest.mark.parametrize(
    ("y", "dtype"),
    [([1, 0, 2**62], "i8"), ([True, np.False_], bool), ([1.0, 2], "f8"), (["a", "b"], object)],
)
def test_labels_among_objects_have_their_own_type(y, dtype):
    found = checked.labels(np.array(y, dtype=object))
    assert (found.dtype, found.tolist()) == (np.dtype(dtype), y)
    checked.check_classes(found)


@pytest.mark.parametrize(
    ("y", "message"),
    [
        ([2**63 + 1, 1], "got 9223372036854775809 of type int"),
        ([10**5000, 1], "got a whole number of 16610 bits of type int"),
        ([datetime.date(2020, 1, 1)] * 2, "got datetime.date(2020, 1, 1) of type date"),
    ],
)
def test_objects_that_are_no_labels(y, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        checked.check_classes(checked.labels(np.array(y, dtype=object)))


def test_complex_targets_are_refused():
    for refused in (checked.numbers, checked.labels):
        with pytest.raises(ValueError, match="not supported: y must hold real numbers"):
            refused(X[:, 0] + 0j)


@pytest.mark.parametrize(
    "model", [bochner.KreinRidge(n_components=8), bochner.TableEncoder(), bochner.Forecaster()]
)
def test_a_fit_that_fails_leaves_a_model_unfitted(model):
    rows = np.random.default_rng(0).normal(size=(20, 2))
    y = (rows[:, 0],)
    data = {"KreinRidge": (rows, *y), "TableEncoder": (rows,), "Forecaster": y}[
        type(model).__name__
    ]
    model.fit(*data)
    with pytest.raises(ValueError, match=r"."):
        model.fit(*(part[:0] for part in data))
    with pytest.raises(NotFittedError):
        check_is_fitted(model)


@pytest.mark.parametrize("refused", [checked.numbers, checked.labels])
def test_sparse_targets(refused):
    with pytest.raises(TypeError, match=r"y is sparse.* y\.toarray\(\)"):
        refused(sparse.csr_array(X[:, :1]))


@pytest.mark.parametrize("factor", [1e-110, 1e110])
def test_targets_and_weights_have_squares(factor):
    with pytest.raises(ValueError, match="y must have its largest number between"):
        checked.check_targets(factor * X[:, 0])
    with pytest.raises(ValueError, match="sample_weight must be zero or between"):
        checked.check_weights(np.array([0.0, factor]))
    checked.check_targets(np.zeros(3))
    checked.check_weights(np.array([0.0, 1e-50, 1e50]))


@pytest.mark.parametrize("kind", ["M8[D]", "m8[h]", "S3"])
def test_labels_that_no_model_file_holds_are_refused(kind):
    """A model would be fitted, and then could not be saved."""
    with pytest.raises(ValueError, match=r"text, booleans or whole numbers.*Convert them to text"):
        checked.labels(np.arange(3).astype(kind))
