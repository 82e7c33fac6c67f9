"""The Jordan parts of the spherical polynomial kernel: what they obey, and where they end."""

import numpy as np
import pytest
from laws import jordan_laws
from laws.jordan_laws import Case, hankel_density, reference
from numpy.testing import assert_allclose
from scipy.integrate import cumulative_simpson
from scipy.special import gamma

from bochner.spectral.spherical_measure import (
    SignedRadial,
    Tabulated,
    has_finite_mass,
    radial_density,
    spherical_polynomial_measure,
    truncated_transform,
    truncation_error,
)

SHAPES = [
    *(Case(2, 2.0, dim) for dim in (1, 2, 3, 5, 16)),
    *(Case(3, 2.5, dim) for dim in (1, 2, 3, 5, 16)),
    Case(1, 2.0, 2),
    Case(4, 3.0, 8),
]
FINITE = [(1, 1), (1, 2), (2, 2), (2, 3), (3, 2)]
BORDER = [(1, 2.0, 3), (2, 2.0, 5)]


LAWS = [
    *((jordan_laws.check_density, case) for case in SHAPES),
    *((jordan_laws.check_masses, case) for case in SHAPES if case.dim > 1),
    *((jordan_laws.check_transform, case) for case in jordan_laws.CASES),
    *((jordan_laws.check_radius, case) for case in jordan_laws.CASES),
]


@pytest.mark.thorough_cases("check_masses-.*a=(2.0|2.5|3.0), dim=[358],")
@pytest.mark.parametrize(("check", "case"), LAWS, ids=lambda v: getattr(v, "__name__", str(v)))
def test_parts(check, case):
    check(case)


@pytest.mark.parametrize("dim", [1, 2, 3, 16, 100])
@pytest.mark.parametrize("a", [2.0, 2.5])
def test_density_at_and_near_zero(dim, a):
    radii = [0.0, 1e-200, 1e-9, 1e-5, 1e-2]
    expected = [hankel_density(Case(3, a, dim), r) for r in radii]
    assert_allclose(radial_density(radii, 3, a, dim), expected, rtol=1e-8, atol=1e-300)


@pytest.mark.thorough_cases(but="1|2$")
@pytest.mark.parametrize(("dim", "degree"), FINITE)
@pytest.mark.parametrize("truncation", [10.0, 40.0])
def test_finite_masses_tend_to_the_kernel_at_zero(dim, degree, truncation):
    measure = spherical_polynomial_measure(degree, 2.0, dim, truncation)
    # The density's tail is A r^-s cos(2r - c), whose integral is at most A T^-s.
    s = degree + 1.5 - dim / 2.0
    amplitude = 2.0 * gamma(degree + 1.0) / (gamma(dim / 2.0) * np.sqrt(np.pi))
    assert abs(measure.mass - 1.0) < amplitude * truncation**-s
    assert measure.parts[0].mass > 0.0 > measure.parts[1].mass


@pytest.mark.parametrize("case", [c for c in SHAPES if c.dim > 1], ids=str)
def test_truncated_transform(case):
    distance = np.linspace(0.0, 2.0, 9)
    expected = reference(case).transform(distance)
    got = truncated_transform(distance.reshape(3, 3), *case.arguments)
    assert_allclose(got.ravel(), expected, atol=1e-5 * np.abs(expected).max())


@pytest.mark.parametrize("case", [*jordan_laws.CASES, Case(1, 2.0, 3, 40.0), Case(2, 2.5, 3)])
def test_truncation_error_is_the_largest(case):
    distance = np.linspace(0.0, 2.0, 401)
    kernel = (1.0 - (distance / case.a) ** 2) ** case.degree
    expected = np.abs(reference(case).transform(distance) - kernel).max()
    got = truncation_error(*case.arguments)
    # A grid of steps h misses at most (T h)^2 / 8 of a peak of the error.
    assert expected - 1e-5 < got < expected * (1.0 + (case.truncation * 0.005) ** 2 / 8.0) + 1e-5


@pytest.mark.parametrize("scheme", jordan_laws.SCHEMES)
@pytest.mark.parametrize("case", jordan_laws.CASES, ids=str)
def test_samples_are_unbiased(case, scheme):
    jordan_laws.check_unbiased(case, scheme)


@pytest.mark.thorough_cases(r"^1-Case\(degree=2, a=2\.5, dim=3, truncation=10\.0\)")
@pytest.mark.parametrize("case", [*jordan_laws.CASES, Case(2, 2.5, 3)], ids=str)
@pytest.mark.parametrize("sign", [1, -1])
def test_quantiles_invert_the_distribution_function(case, sign):
    u = np.linspace(0.0, 1.0, 2001)
    radius = SignedRadial(case.degree, case.a, case.truncation, sign).radius(u[:, None], case.dim)
    assert (np.diff(radius) >= 0.0).all()
    assert radius[0] >= 0.0
    assert radius[-1] <= case.truncation
    density = radial_density(radius[1:-1], case.degree, case.a, case.dim)
    assert (sign * density > 0.0).all()
    assert_allclose(reference(case).distribution(sign)(radius), u, atol=1e-6)


@pytest.mark.parametrize("sign", [1, -1])
def test_tables_of_a_density_with_known_quantiles(sign):
    upper = 3.0 * np.pi
    table = Tabulated(np.sin, upper, sign)
    assert_allclose(table.mass, 4.0 if sign == 1 else 2.0, rtol=1e-12)
    u = np.linspace(0.0, 1.0, 1001)[:-1]
    x = np.arccos(1.0 - (2.0 * (2.0 * u % 1.0) if sign == 1 else 2.0 * u))
    x += 2.0 * np.pi * np.floor(2.0 * u) if sign == 1 else np.pi
    got = table.quantile(u)
    distribution = (1.0 - np.cos(got)) / 2.0
    assert_allclose(got[(u > 0) & (u != 0.5)], x[(u > 0) & (u != 0.5)], atol=1e-5)
    assert_allclose(distribution, (1.0 - np.cos(x)) / 2.0, atol=2e-8)
    assert not table.cumulative.flags.writeable


@pytest.mark.parametrize(
    ("degree", "a", "dim"),
    [
        *((1, 2.0, 1), (1, 2.0, 2), (2, 2.0, 2), (2, 2.0, 3)),
        *((1, 2.0, 3), (1, 2.0, 4), (2, 2.0, 6), (1, 2.5, 1), (2, 2.5, 2), (4, 3.0, 3)),
    ],
)
def test_total_variation_grows_without_bound_exactly_where_the_mass_is_said_to_be_infinite(
    degree, a, dim
):
    r = np.linspace(0.0, 80.0 * np.pi, 80 * 512 + 1)
    variation = cumulative_simpson(np.abs(radial_density(r, degree, a, dim)), x=r, initial=0.0)
    increments = np.diff(variation[[20 * 512, 40 * 512, 80 * 512]])
    # Increments over doublings tend to a geometric sequence; it is summable if and only if its
    # ratio is below one. At the border all of them are equal.
    exponent = np.log2(increments[1] / increments[0])
    expected = (dim - 1) / 2.0 - (degree if a == 2.0 else 0)
    assert_allclose(exponent, expected, atol=0.1)
    assert has_finite_mass(degree, a, dim) == (exponent < -0.25)


@pytest.mark.parametrize(("degree", "a", "dim"), [*BORDER, (2, 2.0, 16), (2, 2.5, 1), (1, 3.0, 5)])
def test_infinite_masses_warn_every_time(degree, a, dim):
    assert not has_finite_mass(degree, a, dim)
    for _ in range(2):
        with pytest.warns(UserWarning, match="infinite total mass") as caught:
            measure = spherical_polynomial_measure(degree, a, dim, 8.0)
        (message,) = [str(entry.message) for entry in caught]
        assert caught[0].filename == __file__
        assert "norm at most 8" in message
        assert 'decomposition="designed"' in message
        for part in measure.parts:
            assert f"{abs(part.mass):.3g}" in message
        assert measure.max_error == truncation_error(degree, a, dim, 8.0)
        assert f"up to {measure.max_error:.2g}" in message


def test_a_truncation_without_mass_is_refused():
    with pytest.raises(ValueError, match=r"no mass within truncation=0\.001"):
        spherical_polynomial_measure(2, 2.0, 200, 1e-3)
