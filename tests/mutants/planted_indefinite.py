"""Bugs in kernels of one number, each with the law that must notice it."""

import numpy as np
from laws import kernel_laws
from laws.registry import Case, bump, of_no_sign, on_the_sphere
from mutants.registry import changes, deferred, planted, replaces

from bochner import kernels
from bochner.kernels import Metric
from bochner.kernels import function_kernels as functions
from bochner.kernels import inner_product as spherical

TL1 = Case(kernels.TL1(3.2), 2, definite=False)
DELTA = Case(kernels.DeltaGaussian(0.7, 1.9), 2, definite=False)
POLYNOMIAL = Case(kernels.SphericalPolynomial(2), 2, on_the_sphere)
WIDE_POLYNOMIAL = Case(kernels.SphericalPolynomial(3, 2.5), 5, on_the_sphere)
STEPS = Case(kernels.ArcCosine(0), 5, on_the_sphere)
RAMPS = Case(kernels.ArcCosine(1), 5, on_the_sphere)
NTK = Case(kernels.NTK(), 5, on_the_sphere)
HELLINGER = Case(kernels.Hellinger(), 2, of_no_sign, definite=False)
TANH = Case(kernels.Tanh(0.4, -0.5), 2, definite=False)
RADIAL = Case(kernels.Radial(bump), 2, definite=False)


def same(u):
    return u


IDENTITY = Case(kernels.DotProduct(same), 2)

closed_form = deferred(kernel_laws.check_closed_form)
eigenvalues = deferred(kernel_laws.check_eigenvalues)
diagonal = deferred(kernel_laws.check_diagonal)
domain = deferred(kernel_laws.check_domain)
profile = deferred(kernel_laws.check_profile)


planted(closed_form(TL1), name="euclidean_tl1")(
    lambda patch: patch.setattr(kernels.TL1, "metric", Metric.EUCLIDEAN)
)
planted(closed_form(RADIAL), name="city_block_radial")(
    lambda patch: patch.setattr(kernels.Radial, "metric", Metric.CITY_BLOCK)
)
replaces(kernels.TL1, "profile", closed_form(TL1), name="tl1_without_truncation")(
    lambda self, t: self.tau - t
)
changes(kernels.DeltaGaussian, "profile", closed_form(DELTA), name="scales_in_the_wrong_order")(
    lambda original, self, t: -original(self, t)
)


@replaces(kernels.DeltaGaussian, "profile", closed_form(DELTA), eigenvalues(DELTA), diagonal(DELTA))
def sum_of_gaussians(self, t):
    """The minus lost: a positive definite kernel."""
    return np.exp(-0.5 * (t / self.tau1) ** 2) + np.exp(-0.5 * (t / self.tau2) ** 2)


@changes(kernels.DeltaGaussian, "profile", closed_form(DELTA))
def delta_gaussian_without_half(original, self, t):
    return original(self, np.sqrt(2.0) * t)


@replaces(
    kernels.SphericalPolynomial, "profile", closed_form(POLYNOMIAL), closed_form(WIDE_POLYNOMIAL)
)
def distance_not_squared(self, t):
    return (1.0 - np.minimum(t, 2.0) / self.a) ** self.degree


@replaces(spherical, "_step", closed_form(STEPS), closed_form(RAMPS), closed_form(NTK))
def angle_from_half_the_distance(half):
    """The arc sine of half the distance is half the angle."""
    return 1.0 - np.arcsin(half) / np.pi


replaces(
    spherical, "_cosine", closed_form(RAMPS), closed_form(NTK), name="cosine_of_half_the_angle"
)(lambda half: 1.0 - half * half)
replaces(
    spherical, "_sine_over_pi", closed_form(RAMPS), closed_form(NTK), name="sine_of_half_the_angle"
)(lambda half: half * np.sqrt(1.0 - half * half) / np.pi)
planted(closed_form(NTK), diagonal(NTK), name="ntk_without_the_inner_weights")(
    lambda patch: patch.setattr(kernels.NTK, "profile", kernels.ArcCosine(1).profile)
)


@replaces(kernels.Hellinger, "evaluate", closed_form(HELLINGER), eigenvalues(HELLINGER))
def bhattacharyya(self, X, Y):
    """The sum of roots, which is positive definite, in place of the root of the sum."""
    return np.sqrt(X) @ np.sqrt(Y).T


replaces(kernels.Tanh, "profile", closed_form(TANH), name="tanh_without_scale")(
    lambda self, t: np.tanh(t + self.offset)
)
replaces(
    Metric, "own", diagonal(TL1), diagonal(HELLINGER), diagonal(TANH), name="norms_on_the_diagonal"
)(lambda self, X: np.linalg.norm(X, axis=1))


@planted(domain(NTK), domain(HELLINGER))
def only_the_left_is_checked(patch):
    def call(self, X, Y=None):
        self.check_inputs(X)
        return self.evaluate(X, X if Y is None else Y)

    patch.setattr(kernels.Kernel, "__call__", call)


@replaces(kernels.Profiled, "diag", domain(NTK), domain(HELLINGER))
def diagonal_not_checked(self, X):
    return self.profile(self.metric.own(X))


def no_check(patch, cls):
    patch.setattr(cls, "check_inputs", lambda self, X: None)


planted(domain(NTK), name="scaled_kernels_are_not_checked")(
    lambda patch: no_check(patch, kernels.Scaled)
)
planted(domain(NTK), name="sums_are_not_checked")(lambda patch: no_check(patch, kernels.Sum))
planted(domain(HELLINGER), name="products_are_not_checked")(
    lambda patch: no_check(patch, kernels.Product)
)


@replaces(kernels.TL1, "profile", profile(TL1))
def profile_in_place(self, t):
    np.subtract(self.tau, t, out=t)
    return np.maximum(t, 0.0, out=t)


@replaces(functions, "values_of", profile(IDENTITY))
def function_given_the_pairs_themselves(kernel, t, shape, noun):
    return kernel.function(t)
