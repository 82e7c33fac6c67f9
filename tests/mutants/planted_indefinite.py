"""Bugs in kernels of one number, each with the law that must notice it."""

import numpy as np
from laws import kernel_laws
from laws.registry import Case, bump, of_no_sign, on_the_sphere
from mutants.registry import deferred, planted, replaces

from bochner import kernels
from bochner.kernels import Metric
from bochner.kernels import function_kernels as functions

TL1 = Case(kernels.TL1(3.2), 2, definite=False)
NTK = Case(kernels.NTK(), 5, on_the_sphere)
HELLINGER = Case(kernels.Hellinger(), 2, of_no_sign, definite=False)
TANH = Case(kernels.Tanh(0.4, -0.5), 2, definite=False)
RADIAL = Case(kernels.Radial(bump), 2, definite=False)


def same(u):
    return u


IDENTITY = Case(kernels.DotProduct(same), 2)

closed_form = deferred(kernel_laws.check_closed_form)
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


@replaces(kernels.TL1, "profile", profile(TL1))
def profile_in_place(self, t):
    np.subtract(self.tau, t, out=t)
    return np.maximum(t, 0.0, out=t)


@replaces(functions, "values_of", profile(IDENTITY))
def function_given_the_pairs_themselves(kernel, t, shape, noun):
    return kernel.function(t)
