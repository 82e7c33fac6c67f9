"""Bugs planted in sums over chunks and in conjugate gradients, and the tests that must notice."""

from dataclasses import replace

import numpy as np
from learning import test_iterative as tests
from mutants.registry import planted

from bochner.features.chunks import RowSample
from bochner.features.products import HostProducts
from bochner.features.stats import RunningSums
from bochner.learning import iterative, row_products


def check_solution(frequencies=tests.POSITIVE, weight=None, *, fit_intercept=False):
    def check():
        tests.test_the_solution_is_that_of_the_normal_equations(
            frequencies, False, fit_intercept, weight
        )

    return check


def check_single():
    """Sums of float32 products of many rows, settled more than once, against float64."""
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(40_000, 3))
    total = RunningSums(3, 1)
    for start in range(0, len(Z), 7_000):
        part = Z[start : start + 7_000].astype(np.float32)
        total.add(part, part[:, :1].astype(float))
    sums = total.sums()
    assert np.abs(sums.gram - Z.T @ Z).max() < 1e-5 * len(Z)
    assert np.abs(sums.cross - Z.T @ Z[:, :1]).max() < 1e-5 * len(Z)


@planted(check_solution(fit_intercept=True))
def products_not_centred(patch):
    products = iterative.normal_products
    patch.setattr(
        iterative,
        "normal_products",
        lambda chunks, features, dtype, V, shift: products(chunks, features, dtype, V, 0 * shift),
    )


@planted(check_solution(weight=tests.WEIGHT))
def weights_lost_in_products(patch):
    summed = row_products._summed

    def careless(chunks, features, dtype, function):
        def unweighted(Z, rows):
            return function(Z, replace(rows, weight=None))

        return summed(chunks, features, dtype, unweighted)

    patch.setattr(row_products, "_summed", careless)


@planted(check_solution(tests.SIGNED))
def gradients_for_an_indefinite_system(patch):
    patch.setattr(iterative, "_minimal_residuals", iterative._conjugate_gradients)


@planted(lambda: tests.test_the_noise_is_that_of_greatest_likelihood(True))
def targets_of_noise_not_centred(patch):
    noise = iterative._noise
    patch.setattr(iterative, "_noise", lambda *sums: noise(*sums[:-1], False))


@planted(tests.test_the_preconditioner_is_the_inverse_of_what_it_says)
def preconditioner_not_scaled_up(patch):
    of = iterative.Preconditioner.of
    patch.setattr(
        iterative.Preconditioner,
        "of",
        lambda Z, sample, weight, alpha: of(Z, sample, sample.rows.weights.sum(), alpha),
    )


@planted(tests.test_samples_of_rows_are_uniform_and_add_up)
def the_first_rows_for_a_sample(patch):
    def first(self, other):
        rows = (self.rows + other.rows)[: self.size]
        keys = np.concatenate((self.keys, other.keys))[: self.size]
        n, square = self.n_samples + other.n_samples, self.square + other.square
        return RowSample(self.size, keys, rows, np.inf, n, square)

    patch.setattr(RowSample, "__add__", first)


@planted(check_single)
def recent_products_never_settled(patch):
    patch.setattr(HostProducts, "_settle", lambda self: None)


@planted(check_single)
def recent_products_kept(patch):
    settle = HostProducts._settle

    def forgetful(self):
        n_recent = self._n_recent
        settle(self)
        self._n_recent = n_recent

    patch.setattr(HostProducts, "_settle", forgetful)
