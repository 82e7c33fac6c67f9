"""Bugs in signed and designed measures, each with the law that must notice it."""

from functools import lru_cache, partial

import numpy as np
from laws import atom_laws, design_laws, weight_laws
from laws.design_laws import CASES
from linear import test_feature_errors
from mutants.registry import changes, deferred, edit, planted, replaces
from scipy.linalg import cho_factor, cho_solve
from spectral import test_allocation
from spectral import test_least_squares_phases as phases

from bochner.spectral import Envelope, design, least_squares
from bochner.spectral.atoms import CityBlockExponentials, DampedGaussians, Shells, sphere_mean
from bochner.spectral.measure import Allocation, ByMass

ROOT_TWO = float(np.sqrt(2.0))
BY_NAME = {str(case): case for case in CASES}
POLYNOMIAL = BY_NAME["5d-SphericalPolynomial(degree=2, a=2.0)"]
TANH = BY_NAME["2d-Tanh(scale=0.5, offset=0.3)"]
ON_THE_SPHERE = BY_NAME["2d-Tanh(scale=2.0, offset=0.1)"]
TRUNCATED = BY_NAME["2d-TL1(tau=1.697056274847714)"]
SHELL, FLAT, DAMPED, PLANE = (
    atom_laws.Case(Shells(5), 0.9 * np.sqrt(5.0)),
    atom_laws.Case(CityBlockExponentials(5), 0.5),
    atom_laws.Case(DampedGaussians(5, 1.2), 0.4),
    atom_laws.Case(DampedGaussians(2, 1.0), 2.5),
)

certificate = deferred(design_laws.check_certificate)


def bias(case, scheme="iid"):
    return lambda: design_laws.check_bias(case, scheme)


bounded = deferred(design_laws.check_bounded)


def prediction(case, scheme="orthogonal"):
    return lambda: design_laws.check_prediction(case, scheme)


transform = deferred(atom_laws.check_transform)
variance = deferred(atom_laws.check_variance)
blocks = deferred(atom_laws.check_blocks)
dampening = deferred(atom_laws.check_dampening)


def forget(patch):
    """Search anew, and remember nothing that is found with a bug."""
    patch.setattr(design, "_cached_search", lru_cache(design._search))


def with_block_variance(patch, covariances, stretch=ROOT_TWO):
    forget(patch)

    def variance(self, distance, damping, scales, block):
        u = np.outer(distance, scales)
        square = sphere_mean(u, self.dim) ** 2
        total = 0.5 * (1.0 + sphere_mean(2.0 * u, self.dim)) - square
        if block > 1:
            total += covariances(block) * (sphere_mean(stretch * u, self.dim) - square)
        return np.maximum(total, 0.0)

    patch.setattr(Shells, "variance", variance)


# Without the root of two, two orthogonal directions would sum to a unit vector.
planted(blocks(SHELL), prediction(POLYNOMIAL), name="blocks_of_independent_directions")(
    lambda patch: with_block_variance(patch, lambda block: 0)
)


@planted(variance(DAMPED), blocks(PLANE))
def undamped_variance(patch):
    forget(patch)
    variance = DampedGaussians.variance
    patch.setattr(
        DampedGaussians,
        "variance",
        lambda self, distance, damping, scales, block: variance(
            self, np.sqrt(np.maximum(distance**2 - damping, 0.0)), 0.0 * damping, scales, block
        ),
    )


@changes(Envelope, "values", dampening(PLANE), transform(DAMPED), bias(TANH))
def envelope_that_grows(factors, self, X):
    return 1.0 / np.maximum(factors(self, X), 1e-300)


@replaces(Envelope, "values", bounded(TANH), bounded(ON_THE_SPHERE))
def envelope_that_does_not_end(self, X):
    """Features of rows outside the ball are as large as on its surface."""
    depth = self.radius**2 - np.sum(np.square(X), axis=1)[:, None]
    return np.exp(-self.rate * np.maximum(depth, 0.0))


@planted(transform(FLAT), certificate(TRUNCATED))
def cauchy_of_the_inverse_scale(patch):
    forget(patch)
    law = CityBlockExponentials.law
    patch.setattr(
        CityBlockExponentials, "law", lambda self, scale: law(self, 1.0 / scale if scale else 0.0)
    )


@replaces(least_squares, "_folded", weight_laws.check_weights)
def no_cross_terms(products):
    m = len(products) // 2
    return products[:m, :m] + products[m:, m:]


@changes(least_squares, "_solve", weight_laws.check_start)
def shrunk_towards_zero(solve, H, g, prior, damping, **options):
    return solve(H, g, 0.0 * prior, damping, **options)


@replaces(
    least_squares,
    "_solve",
    weight_laws.check_optimality,
    lambda: weight_laws.check_weights(nonnegative=True),
)
def clipped_weights(H, g, prior, damping, *, nonnegative):
    weight = cho_solve(cho_factor(H + damping * np.eye(len(H))), g + damping * prior)
    return np.maximum(weight, 0.0) if nonnegative else weight


recovery = phases.test_a_kernel_in_the_span_is_found
# Its Gram matrices are square, so that nothing but the values can tell.
formula = phases.test_a_kernel_of_known_formula_is_found_at_both_orders

replaces(least_squares, "_turned", recovery, formula, name="lost_sines")(np.zeros_like)


@planted(partial(test_feature_errors.assert_predicted, "tl1"))
def errors_with_the_diagonal(patch):
    forget(patch)
    old, new = "self.predicted_error(m)", "self.relative_error(m)"
    edit(design._Candidate, "measure", old, new)(patch)


planted(
    lambda: test_allocation.test_expected_numbers_of_few_frequencies_have_the_mass_of_their_part(
        ByMass()
    ),
    name="few_frequencies_share_the_net_mass",
)(edit(Allocation, "share", "np.abs(mass).sum() / m", "mass.sum() / m"))
