"""Laws of the parts of text: what they change in a model, and which text is used."""

import warnings
from functools import cache

import numpy as np
import pandas as pd

from bochner import TableRegressor
from bochner.files.identifiers import has_words
from bochner.tables.encoder import TableEncoder
from bochner.tables.encodings import output_names, scale_numbers
from bochner.tables.level_means import Removal
from bochner.tables.trees import TreeInputs

RANKS = {"Junior": -0.4, "Senior": 0.3, "Lead": 0.5, "Assistant": -0.2, "Chief": 0.9, "Deputy": 0.1}
JOBS = {"Engineer": 0.6, "Librarian": -0.3, "Nurse": 0.1, "Driver": -0.5, "Attorney": 0.8}
OFFICES = ("Water", "Transit", "Health", "Housing", "Roads", "Parks", "Finance", "Energy")


def jobs(n, seed=0):
    """Return a table with titles of jobs, which differ in nearly every row, and salaries (n,)."""
    rng = np.random.default_rng(seed)
    ranks, names = rng.choice(list(RANKS), n), rng.choice(list(JOBS), n)
    offices, codes = rng.choice(OFFICES, n), rng.integers(100, 1000, n)
    titles = [
        f"{rank} {job} of {office}, {code}"
        for rank, job, office, code in zip(ranks, names, offices, codes, strict=True)
    ]
    age = rng.uniform(20.0, 65.0, n)
    effects = [RANKS[rank] + JOBS[job] for rank, job in zip(ranks, names, strict=True)]
    pay = 5.0 + np.array(effects) + 0.02 * (age - 40.0) + 0.05 * rng.normal(size=n)
    return pd.DataFrame({"title": titles, "age": age}), pay


def codes(n, rng):
    """Return random codes of nine letters and digits."""
    return ["".join(rng.choice(list("abcdefghijklmnopqrstuvwxyz0123456789"), 9)) for _ in range(n)]


def encoder_of(X, y, removal=None):
    """Return an encoder of training rows, and their features."""
    encoder = TableEncoder()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # It names identifiers
        features = encoder.fit_training_rows(X, y, removal or Removal())
    return encoder, features


def used(encoder):
    """Return the names of the columns whose parts have features."""
    return [state["name"] for state in encoder.columns_ if "parts" in state]


@cache
def fitted(n=300, n_missing=0):
    """Return a model of salaries."""
    X, y = jobs(n)
    X.loc[: n_missing - 1, "title"] = None
    return TableRegressor(effort="quick", random_state=0).fit(X, y)


def check_titles_tell(n=400):
    """The parts of titles are used, and lower the error of new rows to less than half."""
    model, (X, y) = fitted(), jobs(n, seed=1)
    error = np.sqrt(np.mean((model.predict(X) - y) ** 2))
    spread = np.std(y - 0.02 * X["age"])
    assert used(model.encoder_) == ["title"]
    assert error < 0.5 * spread, (error, spread)


def check_recurring_names_have_levels(n_levels=60, n_rows=9, n_new=12):
    """Names that recur are levels, although their words tell; intervals of new ones are wide."""
    rng = np.random.default_rng(0)
    pairs = [f"{rank} {job} {place}" for rank in RANKS for job in JOBS for place in OFFICES]
    names = rng.choice(pairs, n_levels + n_new, replace=False)
    telling = [RANKS[name.split()[0]] + JOBS[name.split()[1]] for name in names]
    effect = np.array(telling) + rng.normal(size=len(names))
    which = np.repeat(np.arange(len(names)), n_rows)
    X = pd.DataFrame({"name": names[which], "x": rng.normal(size=len(which))})
    y, is_new = effect[which] + X["x"] + 0.1 * rng.normal(size=len(which)), which >= n_levels
    model = TableRegressor(effort="quick", random_state=0).fit(X[~is_new], y[~is_new])
    assert not used(model.encoder_)
    lower, upper = model.predict_interval(X[is_new], 0.9)
    covered = (lower <= y[is_new]) & (y[is_new] <= upper)
    assert covered.mean() > 0.75, covered.mean()  # Of twelve names, three may lie outside


def check_random_text_is_left_out(n_tables=6, n=300):
    """Text that is drawn at random is an identifier, and features are those of the other columns.

    Two standard errors take one of 44 columns: two of six tables with two columns in one of 34
    cases.
    """
    n_used = 0
    for seed in range(n_tables):
        rng = np.random.default_rng(seed)
        X = pd.DataFrame({"a": rng.normal(size=n)})
        y = X["a"].to_numpy() + rng.normal(size=n)
        words = codes(30, rng)
        drawn = [" ".join(rng.choice(words, 4)) for _ in range(n)]
        encoder, features = encoder_of(X.assign(code=codes(n, rng), words=drawn), y)
        n_used += len(used(encoder))
        assert used(encoder) or features.shape == (n, 1)
    assert n_used <= 1, n_used


def check_groups_are_left_out(n_groups=60, size=4):
    """Text that names a group has no part in a model of rows from other groups."""
    rng = np.random.default_rng(0)
    names = [" ".join(codes(2, rng)) for _ in range(n_groups)]
    group = np.repeat(np.arange(n_groups), size)
    y = np.repeat(rng.normal(size=n_groups), size) + 0.1 * rng.normal(size=n_groups * size)
    X = pd.DataFrame({"name": [names[g] for g in group], "a": rng.normal(size=len(y))})
    assert used(encoder_of(X, y)[0]) == ["name"]
    assert used(encoder_of(X, y, Removal.of_labels(group))[0]) == []


def check_text_of_a_known_number_is_left_out(n=200):
    """Titles predict the target by a number that is known: scores of rare titles replace it."""
    X, worth = jobs(n)
    X = pd.DataFrame({"title": X["title"].str.partition(",")[0], "worth": worth})
    assert used(encoder_of(X, worth + 0.05 * np.random.default_rng(0).normal(size=n))[0]) == []


def check_parts_share_a_length_scale():
    """The parts of a column have one length scale in a kernel, and are numbers of trees."""
    encoder, _ = encoder_of(*jobs(150))
    (state,) = (state for state in encoder.columns_ if "parts" in state)
    numbers = scale_numbers([state])
    n_parts = sum("<part" in name for name in output_names(state))
    assert n_parts == 30
    assert len(set(numbers[-n_parts:])) == 1
    assert numbers[-1] not in numbers[:-n_parts]
    inputs = TreeInputs.of(np.arange(len(numbers)), numbers)
    assert set(range(len(numbers) - n_parts, len(numbers))) <= set(inputs.columns)


def check_text_without_known_parts():
    """A text without any part of the fit is new, its interval is wide, and it is average."""
    model = fitted()
    X = pd.DataFrame({"title": ["Senior Nurse of Parks, 5", "ωξψ ζζζ"], "age": [40.0, 40.0]})
    assert model.unlike_rows(X)["new level"].tolist() == [False, True]
    known, unknown = np.ptp(np.stack(model.predict_interval(X)), axis=0)
    assert unknown > 2.0 * known, (known, unknown)
    average = float(np.mean(model.predict(jobs(300)[0].assign(age=40.0))))
    assert abs(model.predict(X)[1] - average) < 0.25


def check_missing_text():
    """The prediction of a row without text is the average over texts, not that of one text."""
    model = fitted(n_missing=3)
    rows = jobs(300)[0].assign(age=40.0)
    prediction = model.predict(pd.DataFrame({"title": [None], "age": [40.0]}))
    assert abs(prediction[0] - np.mean(model.predict(rows))) < 0.25


def check_words():
    """Text of repeated words may tell; names, UUIDs, hashes and addresses of mail do not."""
    rng = np.random.default_rng(0)
    numbers = rng.integers(0, 16, (500, 32))
    hashes = ["".join(f"{digit:x}" for digit in row) for row in numbers]
    uuids = [f"{h[:8]}-{h[8:12]}-{h[12:16]}-{h[16:20]}-{h[20:]}" for h in hashes]
    serials = [f"INV-{number:06d}" for number in range(500)]
    mail = [f"{code}@{rng.choice(['web', 'post', 'mail'])}.com" for code in codes(500, rng)]
    names = ["".join(rng.choice(list("abcdefghijklm"), 8)) for _ in range(500)]
    titles = jobs(500)[0]["title"].unique().tolist()
    assert has_words(titles)
    for texts in (hashes, uuids, serials, mail, names, []):
        assert not has_words(texts), texts[:1]
