"""Bugs in kernels of one number, each with the law that must notice it."""

import numpy as np
from laws import kernel_laws
from laws.registry import Case, of_no_sign, on_the_sphere
from mutants.registry import deferred, planted, replaces

from bochner import kernels

TL1 = Case(kernels.TL1(3.2), 2, definite=False)
NTK = Case(kernels.NTK(), 5, on_the_sphere)
HELLINGER = Case(kernels.Hellinger(), 2, of_no_sign, definite=False)


domain = deferred(kernel_laws.check_domain)
profile = deferred(kernel_laws.check_profile)


@planted(domain(NTK), domain(HELLINGER))
def only_the_left_is_checked(patch):
    def call(self, X, Y=None):
        self.check_inputs(X)
        return self.evaluate(X, X if Y is None else Y)

    patch.setattr(kernels.Kernel, "__call__", call)


@replaces(kernels.TL1, "profile", profile(TL1))
def profile_in_place(self, t):
    np.subtract(self.tau, t, out=t)
    return np.maximum(t, 0.0, out=t)
