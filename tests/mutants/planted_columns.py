"""Bugs of kernels on columns and of kernels that finitely many frequencies make."""

from dataclasses import replace

import numpy as np
from laws import finite_laws, kernel_laws, measure_laws, sampling_laws
from laws.registry import Case
from mutants.registry import changes, deferred, plant_edits, replaces
from numpy.testing import assert_allclose

from bochner import spectral_measure
from bochner.kernels import (
    Constant,
    Gaussian,
    Linear,
    Matern,
    OnColumns,
    Periodic,
    White,
    stationary,
)
from bochner.spectral.measure import Allocation

ON = Case(Gaussian(0.6).on(0) * Matern(0.8).on(1), 2)
PERIODIC = Case(Periodic(1.3, (0.7, 0.9)), 2)
LINEAR = Case(Linear(0.7, (0.3, -0.5), 4.0), 2)

check_exact = deferred(finite_laws.check_exact)
check_closed_form = deferred(kernel_laws.check_closed_form)
check_diagonal = deferred(kernel_laws.check_diagonal)
check_transform = deferred(measure_laws.check_transform)
check_iid = deferred(sampling_laws.check_iid)


@changes(OnColumns, "evaluate", check_closed_form(ON))
def all_columns(evaluate, self, X, Y):
    return evaluate(replace(self, columns=(0,)), X, Y)


plant_edits(stationary, "_lines", check_exact(PERIODIC),
    lines_in_cycles=("2.0 * np.pi / period", "1.0 / period"),
    )  # fmt: skip


@changes(Linear, "diag", check_diagonal(LINEAR))
def a_diagonal_about_zero(diag, self, X):
    return diag(replace(self, centre=0.0), X)


def check_sum():
    """Parts that need few frequencies have few, with the weights of their masses."""
    k = Gaussian(0.8) + Constant(100.0) + Linear(3.0, reach=1e3)
    f = spectral_measure(k, 1).sample(512, 0)
    assert np.count_nonzero(~f.omega.any(axis=1)) == 2
    assert_allclose(f.gram(ON.points()[:, :1]), k(ON.points()[:, :1]), atol=0.2)


@changes(Allocation, "_capped", check_sum)
def every_part_has_its_share(capped, self, counts, mass, most):
    return counts


def check_noise():
    """Noise is a row's own: the diagonal of one set of rows, and nothing between two."""
    X = np.zeros((3, 1))
    k = Gaussian() + White(0.5)
    assert_allclose(k(X), 1.0 + 0.5 * np.eye(3))
    assert_allclose(k(X, X), 1.0)
    assert_allclose(k.diag(X), 1.5)


@replaces(White, "evaluate", check_noise)
def noise_between_equal_rows(self, X, Y):
    return self.noise * (X == Y.T)
