"""Weights are counts or precisions, and single observations are left out: every model of rows."""

import pytest
from laws import unit_laws as laws

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
FEW, MANY = 8, 40
"""Tables of a quick run and of a slow one."""


def tables(cases):
    """Cases with numbers of tables: few of quick models by default, many in the slow run."""
    few = [
        pytest.param(
            case,
            FEW,
            id=f"{case}-{FEW}",
            marks=[pytest.mark.thorough] if case.takes_seconds else [],
        )
        for case in cases
    ]
    many = [pytest.param(case, MANY, id=f"{case}-{MANY}", marks=pytest.mark.slow) for case in cases]
    return few + many


def once(cases):
    """Cases, without those that take seconds and have a sibling."""
    thorough = [[pytest.mark.thorough] if str(case).startswith("locally") else [] for case in cases]
    return [
        pytest.param(case, id=str(case), marks=marks)
        for case, marks in zip(cases, thorough, strict=True)
    ]


NUMBERS = laws.REGRESSORS + laws.ROBUST + laws.INDEFINITE
some_tables = ("case", "n_seeds")


@pytest.mark.thorough_cases(r"\bkernel\b|\blocally\b")
@pytest.mark.parametrize("case", once(NUMBERS + laws.CLASSIFIERS))
def test_counts_are_repeated_rows(case):
    laws.check_counts_are_repeated_rows(case)


@pytest.mark.thorough_cases(but=r"ridge|\bt\b|normal targets$")
@pytest.mark.parametrize("case", once(NUMBERS))
def test_a_factor_of_weights_is_a_unit_of_the_noise(case):
    laws.check_factors_of_weights(case)


@pytest.mark.thorough_cases(but=r"40|ridge-8|\bwith\b|^normal targets-")
@pytest.mark.parametrize("kind", ["weights", "few rows"])
@pytest.mark.parametrize(some_tables, tables(laws.REGRESSORS))
def test_deviations_are_those_of_fresh_rows(case, n_seeds, kind):
    laws.check_deviations_hold(case, kind, n_seeds)


@pytest.mark.thorough_cases(but=r"40|\bby\b")
@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize(some_tables, tables(laws.SCORED))
def test_no_label_beats_its_entropy(case, n_seeds, n_classes):
    laws.check_nothing_beats_the_entropy(case, n_classes, n_seeds)


@pytest.mark.thorough_cases(but=r"40|\bby\b")
@pytest.mark.parametrize(some_tables, tables(laws.SCORED))
def test_losses_of_few_rows_are_those_of_fresh_ones(case, n_seeds):
    laws.check_loss_of_few_rows(case, n_seeds)


@pytest.mark.thorough
@pytest.mark.parametrize(some_tables, tables(laws.REGRESSORS[5:6]))
def test_errors_of_few_rows_are_those_of_fresh_ones(case, n_seeds):
    laws.check_error_of_few_rows(case, n_seeds)
