"""Bugs planted in sums over chunks and in conjugate gradients, and the tests that must notice."""

import numpy as np
from linear import test_iterative as tests
from mutants.registry import changes, replaces

from bochner.features.chunks import Chunk, RowSample
from bochner.features.row_sums import RunningSums
from bochner.linear import iterative as iterative


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
        targets = part[:, :1].astype(float)
        total.add(part, targets, Chunk(part, targets))
    sums = total.sums()
    assert np.abs(sums.gram - Z.T @ Z).max() < 1e-5 * len(Z)
    assert np.abs(sums.cross - Z.T @ Z[:, :1]).max() < 1e-5 * len(Z)


@changes(iterative, "normal_products", check_solution(fit_intercept=True))
def products_not_centred(products, chunks, features, dtype, V, shift):
    return products(chunks, features, dtype, V, 0 * shift)


@changes(
    iterative,
    "noise_variance",
    lambda: tests.test_the_noise_is_that_of_greatest_likelihood(True, tests.N),
)
def squares_of_more_than_the_noise(noise, square, explained, degrees):
    return noise(square + 1.0, explained, degrees)


@changes(iterative, "preconditioner", tests.test_the_preconditioner_is_the_inverse_of_what_it_says)
def preconditioner_not_scaled_up(of, Z, sample, weight, alpha):
    return of(Z, sample, sample.rows.weights.sum(), alpha)


@replaces(RowSample, "__add__", tests.test_samples_of_rows_are_uniform_and_add_up)
def the_first_rows_for_a_sample(self, other):
    rows = (self.rows + other.rows)[: self.size]
    keys = np.concatenate((self.keys, other.keys))[: self.size]
    n, square = self.n_samples + other.n_samples, self.square + other.square
    return RowSample(self.size, keys, rows, np.inf, n, square)


@replaces(RunningSums, "_settle", check_single)
def recent_products_never_settled(self):
    return None
