"""Other methods of the benchmarks of learned kernels: they look at training rows only."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from pages import small_fold

from benchmarks.bank import design as bank
from benchmarks.bank import methods as bank_methods
from benchmarks.folds import Fold
from benchmarks.gabasr import design as gabasr
from benchmarks.gabasr import methods as gabasr_methods

OF_BANK = (bank.RKS, bank.MKL, bank.ALAC, bank.RFO, bank.TREES)
OF_GABASR = (gabasr.LINEAR, gabasr.LINEAR_SVM, gabasr.RBF_SVM, gabasr.TREES)
CASES = [
    *(
        pytest.param(bank, partial(bank_methods.compete, name, n_frequencies=16), task, id=name)
        for name in OF_BANK
        for task in [name != bank.RFO]
    ),
    *(
        pytest.param(gabasr, partial(gabasr_methods.compete, name), task, id=f"{name}, {task}")
        for name in OF_GABASR
        for task in (True, False)
    ),
]


@pytest.mark.parametrize(("design", "compete", "is_regression"), CASES)
def test_they_learn_from_a_limited_number_of_training_rows(
    design, compete, is_regression, monkeypatch
):
    """And test targets change nothing."""
    fold, seen, inner = small_fold(is_regression=is_regression), [], Fold.inner

    def counted(self, n, rng):
        seen.append(len(self.y))
        return inner(self, n, rng)

    monkeypatch.setattr(Fold, "inner", counted)
    first, second = (compete(f, seed=1) for f in (fold, replace(fold, y_test=fold.y_test[::-1])))
    np.testing.assert_array_equal(first.mean, second.mean)
    if is_regression:
        assert np.mean((first.mean - fold.y_test) ** 2) < 0.8 * np.var(fold.y_test)
    else:
        assert np.mean((first.mean > 0.5) != fold.y_test) < 0.4
    monkeypatch.setattr(design, "MOST_ROWS", dict.fromkeys(design.MOST_ROWS, 60))
    compete(fold, seed=0)
    assert seen == [150, 150, 60]
