"""Every law of complex measures, for every asymmetric kernel."""

import numpy as np
import pytest
from laws import asymmetric_laws as laws
from laws import phase_factor_laws
from laws.asymmetric_laws import CASES, DECOMPOSITIONS, NAMED
from scipy.spatial.distance import pdist


def schemes(case):
    """All where the law is one and isotropic; below 64 inputs structured blocks are Haar's."""
    if case in NAMED:
        return laws.SCHEMES if case.dim == 5 else ("iid", "orthogonal")
    return ("iid",) if case.dim == 2 else ("orthogonal",)


SERVED = [(case, scheme) for case in CASES for scheme in schemes(case)]
BY_TURNS = [
    (case, scheme, decomposition)
    for number, (case, scheme) in enumerate(SERVED)
    for turn, decomposition in enumerate(DECOMPOSITIONS)
    if case.dim == 2 or (number + turn) % 2
]
"""All decompositions in the plane, and every other one of a case and scheme elsewhere."""

FITTED = [
    (case, scheme)
    for case in NAMED
    if isinstance(case.kernel.length_scale, float)
    for scheme in (("iid", "orthogonal") if case.dim == 5 else ("iid",))
]


@pytest.mark.thorough_cases("iid|5d|20d")
@pytest.mark.parametrize(("case", "scheme", "decomposition"), BY_TURNS, ids=str)
def test_samples_are_unbiased_on_both_sides(case, scheme, decomposition):
    laws.check_unbiased(case, decomposition, scheme)


@pytest.mark.thorough
@pytest.mark.parametrize("decomposition", DECOMPOSITIONS)
@pytest.mark.parametrize(("case", "scheme"), FITTED, ids=str)
def test_fitted_masses_give_the_kernel_on_both_sides(case, decomposition, scheme):
    laws.check_fitted_masses(case, decomposition, scheme)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_the_mass_is_the_value_at_zero(case):
    laws.check_mass(case)


@pytest.mark.thorough
@pytest.mark.parametrize("decomposition", DECOMPOSITIONS)
@pytest.mark.parametrize("scheme", ["iid", "orthogonal"])
def test_functions_of_the_lag_are_sampled_within_their_error(decomposition, scheme):
    reach = pdist(np.concatenate(laws.DRIFT.points()))
    laws.check_unbiased(laws.DRIFT, decomposition, scheme, distances=reach)


@pytest.mark.thorough
@pytest.mark.parametrize("scheme", ["iid", "orthogonal"])
def test_few_frequencies_are_unbiased(scheme):
    laws.check_few_frequencies(scheme)


def test_amplitudes_and_phases_are_those_of_the_measure():
    phase_factor_laws.check_weights()


@pytest.mark.parametrize("case", NAMED, ids=str)
def test_the_two_sides_differ_by_more_than_the_tests_resolve(case):
    values = laws.exact(case)
    forth, back = np.split(values, 2)
    assert np.abs(forth.reshape(laws.N_ROWS, -1) - back.reshape(laws.N_ROWS, -1).T).max() > 0.1


def test_cases_are_told_apart():
    assert len(CASES) == len({str(case) for case in CASES})
