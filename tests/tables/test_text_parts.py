"""Parts of free text in tables: the laws, explanations, model files, and encodings of rows."""

import numpy as np
import pandas as pd
import pytest
from laws import text_laws as laws
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.utils import murmurhash3_32

import bochner
from bochner import TableClassifier
from bochner.files.columns import read_column
from bochner.tables.encoder import TableEncoder
from bochner.tables.text_parts import TextParts


@pytest.mark.parametrize(
    "law",
    [
        laws.check_titles_tell,
        laws.check_recurring_names_have_levels,
        laws.check_random_text_is_left_out,
        laws.check_groups_are_left_out,
        laws.check_text_of_a_known_number_is_left_out,
        laws.check_parts_share_a_length_scale,
        laws.check_text_without_known_parts,
        laws.check_missing_text,
        laws.check_words,
    ],
)
def test_laws_of_text(law):
    law()


def test_a_column_of_text_is_one_column_of_explanations():
    model, (X, _) = laws.fitted(), laws.jobs(3, seed=2)
    assert model.importance().columns[0] == "title"
    assert len(model.importance()) == 2
    found = model.contributions(X, random_state=0)
    assert found.columns == ("title", "age")
    np.testing.assert_allclose(found.base + found.values.sum(axis=1), model.predict(X))
    with pytest.raises(ValueError, match=r"'title' is free text.*contributions"):
        model.effect("title")


def test_a_model_with_text_is_stored(tmp_path):
    model, (X, _) = laws.fitted(), laws.jobs(20, seed=3)
    bochner.save(model, tmp_path / "model.bochner")
    loaded = bochner.load(tmp_path / "model.bochner")
    np.testing.assert_array_equal(loaded.predict(X), model.predict(X))
    np.testing.assert_array_equal(loaded.encode(X), model.encode(X))


def test_the_features_of_a_text_depend_on_it_alone():
    X, y = laws.jobs(200)
    encoder, of_fit = laws.encoder_of(X, y)
    np.testing.assert_array_equal(encoder.transform(X), of_fit)
    again, _ = laws.encoder_of(X, y)
    order = np.random.default_rng(0).permutation(200)
    np.testing.assert_array_equal(again.transform(X.iloc[order]), of_fit[order])
    alone = np.vstack([encoder.transform(X.iloc[[row]]) for row in range(5)])
    np.testing.assert_allclose(alone, of_fit[:5], atol=1e-6)
    long = "engineer of roads " * 1200  # Its first 20,000 characters are split
    cut = encoder.transform(pd.DataFrame({"title": [long, long[:20_000] + " xyz"], "age": 30.0}))
    np.testing.assert_array_equal(cut[0], cut[1])
    empty = encoder.transform(pd.DataFrame({"title": [None, "ωξψ"], "age": [30.0, 30.0]}))
    np.testing.assert_array_equal(empty[:, :31], np.tile([1.0, *[0.0] * 30], (2, 1)))


def test_scores_are_those_of_counted_parts():
    """Parts are counted one by one, weighted, and multiplied by the components."""
    texts = [*laws.jobs(200)[0]["title"], *laws.jobs(9)[0]["title"]]
    column = read_column("title", pd.Series([*texts, None], dtype=object))
    parts = TextParts.of(column)
    scores, is_known = parts(column)
    counted = CountVectorizer(analyzer="char_wb", ngram_range=(3, 4)).fit(texts)
    places = [abs(murmurhash3_32(part)) % 2**20 for part in counted.get_feature_names_out()]
    counts = counted.transform(texts).toarray() @ np.equal.outer(places, parts.places)
    idf = 1.0 + np.log((1 + len(texts)) / (1 + np.count_nonzero(counts, axis=0)))
    weighted = counts * idf / np.linalg.norm(counts * idf, axis=1, keepdims=True)
    np.testing.assert_allclose(scores[:-1], weighted @ parts.components - parts.centre, atol=1e-5)
    assert is_known.tolist() == [True] * len(texts) + [False]
    assert not scores[-1].any()


def test_both_encodings_of_numbers_have_the_same_parts():
    model = laws.fitted()
    for one, other in zip(model.encoder_.columns_, model.quantile_encoder_.columns_, strict=True):
        assert one.get("parts") is other.get("parts")


def test_a_short_list_of_levels_stays_a_category():
    X, y = laws.jobs(300)
    rank = X["title"].str.split(" of ").str[0]  # 30 levels
    encoder, features = laws.encoder_of(X.assign(title=rank), y)
    assert laws.used(encoder) == []
    np.testing.assert_array_equal(features, TableEncoder().fit(X.assign(title=rank)).transform(
        X.assign(title=rank)
    ))  # fmt: skip


def test_frequent_levels_keep_their_features():
    X, y = laws.jobs(400)
    office = X["title"].str.partition(",")[0]  # 240 levels at most
    office[:20] = "Chief Engineer of Water"
    encoder, _ = laws.encoder_of(X.assign(title=office), y)
    (state,) = (state for state in encoder.columns_ if "parts" in state)
    counts = office.value_counts()
    assert state["levels"] == sorted(counts.index[counts >= 5])


def test_a_fit_without_a_target_leaves_text_out():
    with pytest.warns(UserWarning, match="Identifiers in column 'title'"):
        encoder = TableEncoder().fit(laws.jobs(300)[0])
    assert encoder.get_feature_names_out().tolist() == ["age"]


def test_classes_and_rows_without_parts():
    X, y = laws.jobs(300)
    labels = np.where(y > np.median(y), "high", "low")
    model = TableClassifier(effort="quick", random_state=0).fit(X[:200], labels[:200])
    assert laws.used(model.encoder_) == ["title"]
    assert np.mean(model.predict(X[200:]) == labels[200:]) > 0.85
    few = pd.Series(["one", "two"] * 10)
    assert TextParts.of(read_column("few", few)) is None


def test_stored_parts_are_bounded():
    rng = np.random.default_rng(0)
    texts = [" ".join(laws.codes(6, rng)) for _ in range(3000)]
    texts += texts  # Each part occurs twice
    parts = TextParts.of(read_column("text", pd.Series(texts)))
    assert parts is not None
    assert len(parts.places) == 4096
    assert parts.components.nbytes <= 4096 * 30 * 4
