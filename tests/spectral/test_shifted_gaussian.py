"""Draws from modulated Gaussian measures and from their Jordan parts."""

import numpy as np
import pytest
from laws import asymmetric_laws, phase_factor_laws
from laws.asymmetric_laws import FAMILY_ALPHA, Case, check_mean
from laws.phase_factor_laws import LAWS, jordan_laws
from numpy.testing import assert_allclose
from scipy import stats

from bochner import kernels, spectral_measure
from bochner.spectral.schemes import resolve_scheme
from bochner.spectral.shifted_gaussian import (
    Component,
    PhaseFactor,
    ShiftedGaussian,
    correction,
    shifted_gaussian_parts,
)

PARTS = [(name, part) for name, law in LAWS.items() for part in jordan_laws(law)]
ALPHA = FAMILY_ALPHA / (4 * len(PARTS))


def label(value):
    return value.component.value if isinstance(value, ShiftedGaussian) else str(value)


@pytest.mark.parametrize("scheme", ["iid", "orthogonal"])
@pytest.mark.parametrize(("name", "law"), PARTS, ids=label)
def test_jordan_parts_follow_their_density(name, law, scheme):
    phase_factor_laws.check_component(law, scheme, ALPHA)


@pytest.mark.thorough
@pytest.mark.parametrize(("name", "law"), PARTS, ids=label)
def test_rejection_accepts_the_stated_share(name, law):
    phase_factor_laws.check_acceptance(law, ALPHA)


@pytest.mark.parametrize("name", sorted(LAWS))
def test_jordan_parts_have_the_masses_of_their_signs(name):
    law = LAWS[name]
    shares = {part.component: share for share, part in law.jordan()}
    assert Component.POLAR not in shares
    for component, share in shares.items():
        sign = -1.0 if component is Component.NEGATIVE else 1.0
        mass = component.mass(law.factor, law.spread)
        assert_allclose(share * law.variation, sign * mass, rtol=1e-12)
    missing = set(Component) - set(shares) - {Component.POLAR}
    assert all(part.mass(law.factor, law.spread) < 1e-11 for part in missing)
    assert all(part.jordan() == ((1.0, part),) for part in jordan_laws(law))


@pytest.mark.parametrize("scheme", ["iid", "orthogonal"])
def test_polar_frequencies_are_gaussian_whatever_the_phases(scheme):
    law = LAWS["all"]
    drawn = [
        law.draw(60, rng, resolve_scheme(scheme)) for rng in np.random.default_rng(1).spawn(50)
    ]
    omega = np.concatenate([draw.omega for draw in drawn]) * np.array(law.length_scale)
    p_values = [stats.kstest(column, "norm").pvalue for column in omega.T]
    assert min(p_values) > ALPHA


@pytest.mark.thorough
def test_weights_of_one_draw_have_the_mean_one_and_the_value_at_zero():
    law, rng = LAWS["all"], np.random.default_rng(2)
    draw = law.draw(1, rng, resolve_scheme("iid"))
    t = draw.omega @ np.array(law.shift)
    assert_allclose(draw.ratio, law.factor.size(t) / law.variation)
    ratios = np.array(
        [
            [d.ratio[0], d.ratio[0] * np.cos(d.phase[0])]
            for d in (law.draw(1, r, resolve_scheme("iid")) for r in rng.spawn(1000))
        ]
    )
    check_mean(ratios, np.array([1.0, law.at_zero]), asymmetric_laws.ALPHA)
    positive, negative = (c.mass(law.factor, law.spread) for c in list(Component)[1:3])
    assert_allclose(law.at_zero, (positive - negative) / law.variation)


@pytest.mark.thorough
@pytest.mark.parametrize("s", [0.05, 1.0, 4.0])
def test_the_correction_is_unbiased(s):
    phase_factor_laws.check_correction(s=s)


@pytest.mark.thorough
def test_the_correction_is_that_of_its_formula():
    rng = np.random.default_rng(0)
    first, second = rng.normal(size=5), rng.normal(size=4)
    s, m = 1.3, 9
    t = s * rng.standard_normal(4_000_000)
    g = np.cos(t) - np.exp(-0.5 * s**2)
    beta = 1.0 / (1.0 + 2.0 * np.mean(g**4) / np.mean(g**2) ** 2 / m)
    expected = []
    for other, own in ((second, first), (first, second)):
        gap = np.exp(-0.5 * s**2) - np.cos(other).mean()
        slope = (np.cos(own) - np.cos(own).mean()) / np.mean(g**2) * m / (len(own) - 1)
        expected.append(1.0 + 0.5 * beta * gap * slope)
    # The moments are those of four million draws.
    assert_allclose(correction([first, second], s), np.concatenate(expected), rtol=5e-3)


def test_real_measures_are_split_by_sign():
    split = shifted_gaussian_parts(1.0, (2.0, 1.0), PhaseFactor(0.3, -1.5, 0.0))
    assert [law.component for _, law in split] == [Component.POSITIVE, Component.NEGATIVE]
    assert_allclose(sum(mass for mass, _ in split), 0.3 - 1.5 * np.exp(-2.5))
    assert split[0][0] > 0.0 > split[1][0]
    ((mass, law),) = shifted_gaussian_parts(1.0, (2.0, 1.0), PhaseFactor(1.5, 0.5, 0.0))
    assert law.component is Component.POSITIVE
    assert_allclose(mass, 1.5 + 0.5 * np.exp(-2.5))


def test_measures_of_one_scale_and_shift_are_joined():
    shift = kernels.ShiftGaussian(0.8, (0.5, 0.2))
    sinh = kernels.SinhGaussian(0.8, (0.5 / 0.64, 0.2 / 0.64))
    total = spectral_measure(2.0 * shift - 0.5 * shift.T + sinh, 2)
    (part,) = total.parts
    c = np.exp(0.5 * (0.5**2 + 0.2**2) / 0.64)
    # 2 e^it - 0.5 e^-it + 1 - i c sin t
    for name, value in (("constant", 1.0), ("cosine", 1.5), ("sine", 2.5 - c)):
        assert_allclose(getattr(part.law.factor, name), value, rtol=1e-12)
    for other in (kernels.ShiftGaussian(0.8, (0.5, 0.3)), kernels.ShiftGaussian(0.9, (0.5, 0.2))):
        assert len(spectral_measure(shift + other, 2).parts) == 2
    split = spectral_measure(shift, 2, decomposition="jordan")
    assert len((split + split).parts) == 2 * len(split.parts)


def test_variations_that_overflow_are_refused():
    with pytest.raises(ValueError, match=r"overflows: the norm of length_scale \* beta is 40"):
        spectral_measure(kernels.CoshGaussian(1.0, 40.0), 1)
    with pytest.raises(ValueError, match="total variation of the kernel's measure overflows"):
        shifted_gaussian_parts(1.0, (1.0,), PhaseFactor(0.0, np.inf, 1.0))


def errors(kernel, decomposition, dim, m, seeds):
    """Mean square errors over pairs of rows, one for each seed."""
    case = Case(kernel, dim)
    measure = spectral_measure(kernel, dim, decomposition=decomposition)
    exact = asymmetric_laws.exact(case)
    streams = case.rng(f"variance/{decomposition}").spawn(seeds)
    return np.array(
        [
            np.mean((asymmetric_laws.sides(case, measure.sample(m, rng, "iid")) - exact) ** 2)
            for rng in streams
        ]
    )
