"""Errors of predictions and their standard errors, and the sentences about them."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.metrics import log_loss, r2_score, roc_auc_score

from bochner.comparison import study as studies
from bochner.comparison.outcomes import LIKE, Outcome, by_kind, mean_score, outcome
from bochner.comparison.split import Split
from bochner.comparison.verdict import best_other, calibration, difference, verdict
from bochner.tables.sensitivity import VarianceShares

RNG = np.random.default_rng(0)
NONE = VarianceShares((), np.empty(0), np.empty(0))


def numbers(noise=1.0, bias=0.0, n=400, seed=1, width=1.645):
    """Predictions whose errors are normal of deviation ``noise``."""
    rng = np.random.default_rng(seed)
    y = rng.normal(scale=3.0, size=n)
    mean = y + bias + noise * rng.normal(size=n)
    return Outcome(y, mean, mean - width, mean + width, unit=9.0)


def classes(n=400, seed=1, sharper=1.0):
    rng = np.random.default_rng(seed)
    logit = 2.0 * rng.normal(size=n)
    p = 1.0 / (1.0 + np.exp(-logit))
    y = np.where(rng.random(n) < p, "yes", "no")
    said = 1.0 / (1.0 + np.exp(-sharper * logit))
    labels = np.where(said > 0.5, "yes", "no")
    both = np.stack([1.0 - said, said], axis=1)
    return Outcome(y, labels, probability=both, classes=np.array(["no", "yes"]))


def study(**outcomes):
    own = next(iter(outcomes.values()))
    named = {"bochner": own} | {k: v for k, v in outcomes.items() if v is not own}
    frame = pd.DataFrame({"a": [1.0, 2.0]})
    facts = studies.table_facts(frame, "t.csv")
    split = Split(frame, own.y, frame, own.y, "regression")
    return studies.Study(None, "price", facts, split, named, NONE, NONE)


@pytest.mark.thorough
def test_standard_errors_are_those_of_repeated_samples():
    draws = np.random.default_rng(2).exponential(size=(4000, 600))
    scores = [mean_score(draw) for draw in draws]
    said = np.mean([score.std_error for score in scores])
    assert said == pytest.approx(np.std([score.value for score in scores]), rel=0.03)
    rmse = [numbers(n=100, seed=seed).scores()["rmse"] for seed in range(2000)]
    said = np.mean([score.std_error for score in rmse])
    assert said == pytest.approx(np.std([score.value for score in rmse]), rel=0.05)


def test_standard_errors_of_dependent_rows_are_those_of_clusters():
    rng = np.random.default_rng(3)
    means, errors = [], []
    clusters = np.repeat(np.arange(40), 10)
    for _ in range(1500):
        values = rng.normal(size=40)[clusters] + 0.3 * rng.normal(size=400)
        score = mean_score(values, clusters)
        means.append(score.value)
        errors.append(score.std_error)
    assert np.mean(errors) == pytest.approx(np.std(means), rel=0.05)
    assert mean_score(values).std_error < 0.5 * errors[-1]


def test_metrics_are_those_of_scikit_learn():
    found, scores = numbers(), numbers().scores()
    assert scores["r2"].value == pytest.approx(r2_score(found.y, found.prediction))
    assert scores["mae"].value == pytest.approx(np.mean(np.abs(found.y - found.prediction)))
    assert scores["coverage"].value == np.mean(np.abs(found.y - found.prediction) <= 1.645)
    assert scores["width"].value == pytest.approx(3.29)
    found, scores = classes(), classes().scores()
    assert scores["log_loss"].value == pytest.approx(log_loss(found.y, found.probability))
    area = roc_auc_score(found.y == "yes", found.probability[:, 1])
    assert scores["auc"].value == pytest.approx(area)


def test_rows_are_split_by_how_they_differ_from_the_training_rows():
    """Rows are counted for each of their reasons, and rows without one are like the others."""
    found, place = numbers(), np.arange(400)
    unlike = {"missing": place < 30, "new level": np.zeros(400, bool), "later": place % 40 == 0}
    kinds = by_kind(found, unlike)
    rows = {
        LIKE: [i for i in range(30, 400) if i % 40],
        "missing": [*range(30)],
        "later": [*range(0, 400, 40)],
    }
    assert list(kinds) == list(rows)
    for kind, expected in rows.items():
        np.testing.assert_array_equal(kinds[kind].y, found.y[expected])
        gaps = np.abs(found.y - found.prediction)[expected]
        scores = kinds[kind].scores()
        assert scores["coverage"].value == pytest.approx(np.mean(gaps <= 1.645))
        assert scores["rmse"].value == pytest.approx(np.sqrt(np.mean(gaps**2)))
    assert list(by_kind(found, {"later": np.ones(400, bool)})) == ["later"]
    assert by_kind(found, {"missing": np.zeros(400, bool)}) == {}


def test_the_difference_of_two_methods_counts_the_same_rows():
    """Its interval holds the ratio of the deviations in about 95 of 100 samples."""
    inside = 0
    for seed in range(400):
        one = numbers(seed=seed)
        other = replace(one, prediction=one.prediction + 0.5 * np.random.default_rng(seed + 9_000)
                        .normal(size=400))  # fmt: skip
        found = difference(one, "other", other)
        assert found.lower < found.ratio < found.upper
        inside += found.lower < 1.0 / np.sqrt(1.25) < found.upper
    assert 0.92 <= inside / 400 <= 0.98


def test_the_best_of_equal_methods_is_rarely_significantly_better(n_draws=300, n_others=20):
    """The best of several methods of the same expected error is called better in 5 % of draws."""
    rng = np.random.default_rng(3)
    n_better = 0
    for _ in range(n_draws):
        y = rng.normal(size=200)
        noise = rng.normal(size=(n_others + 1, 200))
        own, *others = (Outcome(y, y + 0.5 * each) for each in noise)
        found = best_other(study(own=own, **{f"m{i}": each for i, each in enumerate(others)}))
        n_better += found.lower > 1.0
    limit = stats.binom.isf(1e-3, n_draws, 0.05)
    assert n_better <= limit, f"{n_better} of {n_draws}"


def test_verdicts_on_numbers():
    good, bad = numbers(), replace(numbers(), prediction=numbers().prediction + 3.0)
    text = verdict(study(own=good, trees=bad))
    assert text.startswith(
        "Half of the predictions of 'price' for new rows are off by less than 0.7"
    )
    assert "They explain 8" in text
    assert "% lower than that of trees; the" in text
    worse = verdict(study(own=bad, trees=good))
    assert worse.startswith("This model is worse here than the trees: its RMSE is ")
    three = study(own=good, a=bad, trees=replace(good))
    assert "the best of 2 other methods (trees)" in verdict(three)
    assert "equals that of trees" in verdict(study(own=good, trees=replace(good)))
    rng = np.random.default_rng(4)
    chance = replace(good, prediction=good.y + rng.normal(size=400))  # The same expected error
    assert "; the difference is not significant" in verdict(study(own=good, trees=chance))
    nothing = numbers(noise=0.0)
    nothing = replace(nothing, prediction=np.zeros(400))
    assert verdict(study(own=nothing)).startswith("The columns explain little of 'price'")
    late = study(own=good)
    late = replace(late, split=replace(late.split, kind="time"))
    assert "for later rows" in verdict(late)


def test_methods_without_probabilities_are_not_compared_by_log_loss():
    own = classes()
    labels = replace(own, probability=None)
    assert best_other(study(own=own, labels=labels)) is None
    assert best_other(study(own=own, labels=labels, other=replace(own))).other == "other"
    share = np.mean(own.prediction == own.y)
    text = verdict(study(own=own))
    assert text.startswith(f"The predicted 'price' is right for {100 * share:.0f} % of new rows")


@pytest.mark.parametrize(
    ("width", "judged"), [(1.645, "as expected"), (1.0, "too narrow"), (2.6, "wider than")]
)
def test_intervals_are_judged(width, judged):
    assert judged in calibration(study(own=numbers(width=width)))


@pytest.mark.parametrize(
    ("sharper", "judged"), [(1.0, "as expected"), (3.0, "less often"), (0.4, "more often")]
)
def test_probabilities_are_judged(sharper, judged):
    assert judged in calibration(study(own=classes(2000, sharper=sharper)))


class TwoTargets:
    """Predictions that need no fit."""

    def predict(self, X):
        return np.stack([X["a"], 2.0 * X["b"]], axis=1)

    def predict_interval(self, X, level):
        return self.predict(X) - level, self.predict(X) + 2.0 * level


def test_each_target_has_its_own_outcome():
    """Each target has its predictions, and the unit of its training values."""
    X = pd.DataFrame(RNG.normal(size=(80, 2)), columns=["a", "b"])
    y = RNG.normal(size=(80, 2)) * [1.0, 3.0]
    groups = np.arange(20) // 2
    split = Split(X[:60], y[:60], X[60:], y[60:], "regression", groups_test=groups)
    outcomes = studies.own_outcomes(TwoTargets(), split, 0.7, 2.5)
    for number, factor, name in ((0, 1.0, "a"), (1, 2.0, "b")):
        (found,) = outcomes[number].values()
        expected = factor * X[name][60:]
        np.testing.assert_array_equal(found.y, y[60:, number])
        np.testing.assert_array_equal(found.prediction, expected)
        np.testing.assert_array_equal([found.lower, found.upper], [expected - 0.7, expected + 1.4])
        assert (found.level, found.seconds) == (0.7, 2.5)
        assert found.unit == pytest.approx(np.mean((y[:60, number] - y[:60, number].mean()) ** 2))
        np.testing.assert_array_equal(found.clusters, groups)


def test_columns_in_brief():
    frame = pd.DataFrame(
        {
            "size": [1.5, 2.5, np.nan, 2.5],
            "day": pd.to_datetime(["2020-01-03", "2020-01-01", None, "2020-01-02"]),
            "kind": ["a", "b", "a", "a"],
        }
    )
    facts = studies.table_facts(frame, "t.csv", ["A note."])
    found = [(c.kind, c.n_missing, c.n_distinct, c.summary) for c in facts.columns]
    assert found == [
        ("numbers", 1, 2, "1.5 to 2.5"),
        ("dates", 1, 3, "2020-01-01 to 2020-01-03"),
        ("text", 0, 2, "a (75%), b (25%)"),
    ]
    assert facts.share_missing == pytest.approx(2 / 12)


def test_intervals_of_other_levels():
    rng = np.random.default_rng(5)
    X, y = rng.normal(size=(90, 1)), rng.normal(size=90)
    split = Split(X[:60], y[:60], X[60:], y[60:], "regression")
    model = studies.TableRegressor(effort="quick", random_state=0).fit(X[:60], y[:60])
    half = outcome(model, split, 0.5)
    np.testing.assert_array_equal(half.lower, model.predict_interval(X[60:], 0.5)[0])


@pytest.mark.parametrize("clusters", [None, np.arange(40) // 4])
def test_standard_errors_of_huge_targets_do_not_overflow(clusters):
    """Mean squares of targets of 1e100 are finite, and their squares are not."""
    values = RNG.normal(size=40) ** 2
    plain, huge = mean_score(values, clusters), mean_score(1e200 * values, clusters)
    assert huge.value == pytest.approx(1e200 * plain.value)
    assert huge.std_error == pytest.approx(1e200 * plain.std_error)


@pytest.mark.parametrize("gap", [0.0, 0.06, -0.06, 0.2, -0.2])
@pytest.mark.parametrize("grouped", [False, True])
def test_probabilities_are_judged_by_the_larger_of_two_errors(gap, grouped):
    """That of the stated probabilities, and that of the rows or of their groups."""
    rng = np.random.default_rng(1)
    group = np.repeat(np.arange(20), 20)
    highest = rng.uniform(0.55, 0.8, 400)
    chance = highest + gap + (0.25 * rng.normal(size=20)[group] if grouped else 0.0)
    is_right = rng.random(400) < chance
    both = np.column_stack([highest, 1.0 - highest])
    own = Outcome(np.where(is_right, "a", "b"), np.full(400, "a"), probability=both,
                  classes=np.array(["a", "b"]), clusters=group if grouped else None)  # fmt: skip
    excess = is_right - highest
    error = np.std(excess, ddof=1) / 20.0
    if grouped:
        sums = [np.sum((excess - excess.mean())[group == k]) for k in range(20)]
        error = np.std(sums, ddof=1) * np.sqrt(20.0) / 400.0
    stated = np.sqrt(np.sum(highest * (1.0 - highest))) / 400.0
    side = "more often than predicted" if excess.mean() > 0.0 else "less often than predicted"
    is_alike = abs(excess.mean()) <= 2.0 * max(error, stated)
    assert calibration(study(own=own)).endswith(", as expected." if is_alike else f", {side}.")


def test_differences_within_a_group_are_not_independent():
    """Differences that are equal within eight groups are eight differences, not 400."""
    rng, groups = np.random.default_rng(6), np.arange(400) % 8
    one = replace(numbers(), clusters=groups)
    other = replace(one, prediction=one.prediction + 0.8 * rng.normal(size=8)[groups])
    losses = [(each.prediction - each.y) ** 2 for each in (one, other)]
    relative = [loss / loss.mean() for loss in losses]
    sums = np.bincount(groups, relative[0] - relative[1])
    error = np.sqrt(8.0 / 7.0 * np.sum(sums**2)) / 400.0
    found = difference(one, "other", other)
    # Two standard errors on each side, halved by the root of the mean squares
    np.testing.assert_allclose(np.log(found.upper / found.lower), 2.0 * error)
    alone = difference(replace(one, clusters=None), "other", other)
    assert found.upper / found.lower > alone.upper / alone.lower
