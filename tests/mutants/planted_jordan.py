"""Bugs that sampling the Jordan parts of a signed measure invites."""

from collections.abc import Callable
from functools import lru_cache

import numpy as np
from laws import jordan_laws
from laws.jordan_laws import CASES
from mutants.registry import deferred, planted

from bochner.spectral import SpectralMeasure
from bochner.spectral import spherical_measure as spherical
from bochner.spectral.measure import Part

PLANE, FIVE, LETTER = CASES

check_density = deferred(jordan_laws.check_density)
check_masses = deferred(jordan_laws.check_masses)
check_transform = deferred(jordan_laws.check_transform)
check_radius = deferred(jordan_laws.check_radius)


def check_unbiased(case, scheme="iid"):
    return lambda: jordan_laws.check_unbiased(case, scheme)


every_case = (check_unbiased(PLANE), check_unbiased(FIVE, "orthogonal"), check_unbiased(LETTER))


def with_density(patch, density: Callable):
    """Plant another density, with caches of its own."""
    for name in ("_table", "truncation_error"):
        patch.setattr(spherical, name, lru_cache(getattr(spherical, name).__wrapped__))
    patch.setattr(spherical, "radial_density", density)


def with_parts(patch, parts: Callable):
    build = spherical.spherical_polynomial_measure
    patch.setattr(
        spherical,
        "spherical_polynomial_measure",
        lambda *arguments: SpectralMeasure(parts(*build(*arguments).parts)),
    )


@planted(check_masses(LETTER), check_transform(LETTER), *every_case)
def flipped_sign_of_the_negative_part(patch):
    with_parts(patch, lambda plus, minus: (plus, Part(-minus.mass, minus.law)))


@planted(
    check_density(FIVE),
    check_radius(PLANE),
    check_radius(LETTER),
    check_transform(LETTER),
    check_unbiased(FIVE),
    check_unbiased(LETTER, "orthogonal"),
)
def missing_jacobian(patch):
    """Radii drawn from the density of a vector, normalised to the right total mass."""
    density = spherical.radial_density

    def without(radius, degree, a, dim):
        grid = np.linspace(1e-6, 10.0, 2001)
        right, wrong = density(grid, degree, a, dim), density(grid, degree, a, dim)
        wrong = wrong / grid ** (dim - 1)
        r = np.maximum(radius, 1e-6)
        return density(r, degree, a, dim) / r ** (dim - 1) * (right.sum() / wrong.sum())

    with_density(patch, without)
