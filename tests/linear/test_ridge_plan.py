"""Which solver, precision and memory a ridge regression takes."""

import numpy as np
import pytest

from bochner.features.chunks import Chunk
from bochner.linear.solver_plan import RidgeProblem, RidgeSolver, plan_ridge

GB = 10**9


def problem(p=1000, n=10_000, alpha=1.0, **others):
    return RidgeProblem(p=p, t=1, n_samples=n, alpha=alpha, scale=1.0, **others)


def test_auto_takes_conjugate_gradients_where_they_pay():
    assert plan_ridge(problem(), "auto", None).solver == "cholesky"
    assert plan_ridge(problem(p=8192, n=100_000), "auto", None).solver == "cg"
    assert plan_ridge(problem(p=8192, n=100_000), "cholesky", None).solver == "cholesky"
    assert plan_ridge(problem(), "cg", None).solver == "cg"
    check_worth()


def check_worth():
    """Both ten seconds and half of the time have to be saved."""
    few_seconds = plan_ridge(problem(p=4000, n=2000), "auto", None)  # 2 s against 0.3 s
    little_faster = plan_ridge(problem(p=1000, n=10**6), "auto", None)  # 25 s against 42 s
    assert few_seconds.solver == little_faster.solver == "cholesky"
    assert plan_ridge(problem(p=10_000, n=100_000), "auto", None).solver == "cg"


@pytest.mark.parametrize(
    ("others", "reason"),
    [({"alpha": None}, "a number for alpha"), ({"is_repeatable": False}, "more than once")],
)
def test_what_conjugate_gradients_cannot_do_is_never_chosen(others, reason):
    large = problem(p=8192, n=10**6, **others)
    assert plan_ridge(large, "auto", None).solver == "cholesky"
    with pytest.raises(ValueError, match=reason):
        plan_ridge(large, "cg", None)
    with pytest.raises(ValueError, match=f"fewer n_components.*{reason}"):
        plan_ridge(large, "auto", GB // 10)


def test_what_does_not_fit_is_solved_without_the_gram_matrix():
    assert plan_ridge(problem(p=8192, n=1000), "auto", GB // 2).solver == "cg"
    with pytest.raises(ValueError, match=r"memory_limit is 500 MB.*solver='cg'"):
        plan_ridge(problem(p=8192, n=1000), "cholesky", GB // 2)
    with pytest.raises(ValueError, match="at least"):
        plan_ridge(problem(p=8192), "cg", 10**6)


@pytest.mark.parametrize("limit", [GB // 20, GB // 4, GB, 100 * GB])
def test_the_parts_of_a_plan_stay_within_the_limit(limit):
    p, n = 4096, 50_000
    plan = plan_ridge(problem(p=p, n=n), "cg", limit)
    kept = 4 * n * p if plan.keep else 0
    assert kept + 4 * plan.n_landmarks * (p + plan.n_landmarks) < limit
    assert plan.keep == (limit >= 2 * GB)


def test_an_unknown_solver_is_refused():
    with pytest.raises(ValueError, match="'auto', 'cholesky', 'cg', got 'lsqr'"):
        RidgeSolver("lsqr")


def test_single_precision_is_for_ridges_far_above_its_rounding():
    assert problem(n=100_000, alpha=1.0).float32_suffices(1.0)
    assert not problem(n=100_000, alpha=1e-3).float32_suffices(1.0)
    assert not problem(n=100_000, alpha=None).float32_suffices(1.0)
    assert not problem(n=100_000, is_indefinite=True).float32_suffices(1.0)
    assert not problem(n=None, alpha=0.1).float32_suffices(1.0)
    rows = Chunk(np.zeros((100_000, 1)), np.zeros(100_000))
    assert problem(n=100_000).product_dtype(rows) == np.float32
    assert problem(n=100_000).product_dtype(rows[:100]) == np.float64


def test_single_precision_depends_on_weights_relative_to_the_ridge():
    # Weights and alpha times the same factor are the same problem.
    for factor in (1e-3, 1.0, 1e3):
        assert problem(n=100_000, alpha=factor).float32_suffices(factor)
        assert not problem(n=100_000, alpha=1e-2 * factor).float32_suffices(factor)
    heavy = Chunk(np.zeros((100_000, 1)), np.zeros(100_000), np.full(100_000, 1e3))
    assert problem(n=100_000).product_dtype(heavy) == np.float64
    assert problem(n=100_000).pass_dtype(heavy.weight_rms) == np.float64
