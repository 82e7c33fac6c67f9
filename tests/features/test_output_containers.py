"""Data frames in and out of every transformer: pandas and polars say the same as arrays."""

import numpy as np
import pandas as pd
import pytest
from fuzz.subjects import SUBJECTS

polars = pytest.importorskip("polars")

X = np.random.default_rng(0).normal(size=(24, 3))
NAMES = ["a", "b", "c"]
FRAMES = {"pandas": pd.DataFrame(X, columns=NAMES), "polars": polars.DataFrame(X, schema=NAMES)}
TRANSFORMERS = [name for name, subject in SUBJECTS.items() if hasattr(subject.kind, "transform")]


@pytest.mark.thorough_cases(but=r"features$|\bNystroem\b|encoder")
@pytest.mark.parametrize("name", TRANSFORMERS)
@pytest.mark.parametrize("container", FRAMES)
def test_frames_have_the_values_and_names_of_the_columns(name, container):
    subject = SUBJECTS[name]
    given = {} if subject.target is None else {"y": X[:, 0]}
    frame = FRAMES[container]
    expected = subject.build().fit(X, **given).transform(X)
    model = subject.build().set_output(transform=container).fit(frame, **given)
    found = model.transform(frame)
    assert isinstance(found, type(frame))
    assert list(found.columns) == list(model.get_feature_names_out())
    # Frames hold columns one after the other, which changes the order of sums.
    np.testing.assert_allclose(found.to_numpy(), expected, rtol=1e-9, atol=1e-12)
    if container == "pandas":
        assert found.index.equals(frame.index)


@pytest.mark.thorough_cases(but="ridge")
@pytest.mark.parametrize("container", FRAMES)
@pytest.mark.parametrize("name", ["ridge", "chain", "table", "learned table"])
def test_predictions_of_frames_are_arrays(name, container):
    frame = FRAMES[container]
    model = SUBJECTS[name].build().fit(frame, X[:, 0])
    mean, std = model.predict(frame, return_std=True)
    assert type(mean) is type(std) is np.ndarray
    expected = SUBJECTS[name].build().fit(X, X[:, 0]).predict(X)
    np.testing.assert_allclose(mean, expected, rtol=1e-9, atol=1e-12)
