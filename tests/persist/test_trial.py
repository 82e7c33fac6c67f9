"""A model from a file answers one row by every method that it has, or is refused."""

import numpy as np
import pytest

import bochner
from bochner.persist import ModelFileError, container, trial

X = np.random.default_rng(0).normal(size=(30, 2))


def test_a_whitener_of_other_features_than_the_coefficients_is_refused(tmp_path):
    """Means would be right, and standard deviations fail."""
    path = tmp_path / "model.bochner"
    model = bochner.KernelGLMRegressor(n_components=8, random_state=0).fit(X, X[:, 0])
    bochner.save(model, path)
    tree, tensors = container.read(path)
    name = next(name for name in tensors if name.endswith("coef"))
    assert bochner.load(path).predict(X).shape == (30,)
    short = {**tensors, name: tensors[name][:-1]}
    container.write(path, tree, short)
    with pytest.raises(ModelFileError, match="is not a sound model file"):
        bochner.load(path)


@pytest.mark.parametrize("answer", [[np.nan], [[1.0, np.nan]], [1.0, 2.0], []])
def test_answers_that_are_nan_or_not_one_are_refused(answer):
    with pytest.raises(ValueError, match=r"answers? to one row"):
        trial._check_answer(np.array(answer))
    trial._check_answer(np.array([[1.0, np.inf]]))
