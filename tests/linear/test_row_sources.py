"""What is given to ``fit`` in place of arrays: chunks without rows, paths and functions."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse

from bochner import KreinRidge, KreinRidgeClassifier

RNG = np.random.default_rng(0)
X = RNG.normal(size=(300, 2))
Y = np.sin(X[:, 0]) + 0.1 * RNG.normal(size=300)
LABEL = np.array(["no", "yes"])[(X[:, 0] > 0).astype(int)]
WEIGHT = RNG.uniform(size=300)
NEW = RNG.normal(size=(20, 2))
FULL = [slice(0, 120), slice(120, 121), slice(121, 300)]
NONE = slice(0, 0)
HOLED = [NONE, FULL[0], NONE, NONE, FULL[1], FULL[2], NONE]
SOLVERS = ["cholesky", "cg"]


class Again:
    """Chunks that start anew with every iteration."""

    def __init__(self, make):
        self.make = make

    def __iter__(self):
        return self.make()


def chunks(parts, y, weight=None, wrap=np.asarray):
    columns = (y,) if weight is None else (y, weight)
    return Again(lambda: ((wrap(X[part]), *(column[part] for column in columns)) for part in parts))


def ridge(**parameters):
    return KreinRidge(n_components=40, alpha=0.5, random_state=0, **parameters)


def classifier(**parameters):
    return KreinRidgeClassifier(n_components=40, alpha=0.5, random_state=0, **parameters)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("weight", [None, WEIGHT], ids=["unweighted", "weighted"])
@pytest.mark.parametrize("wrap", [np.asarray, sparse.csr_matrix, sparse.csr_array, pd.DataFrame])
def test_chunks_without_rows_change_no_bit_of_a_regression(solver, weight, wrap):
    whole = ridge(solver=solver).fit(chunks(FULL, Y, weight, wrap))
    found = ridge(solver=solver).fit(chunks(HOLED, Y, weight, wrap))
    assert_array_equal(found.coef_, whole.coef_)
    assert found.noise_variance_ == whole.noise_variance_
    assert_array_equal(found.predict(NEW), whole.predict(NEW))


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("parts", [[], [NONE, NONE]], ids=["no chunks", "empty chunks"])
def test_a_stream_without_rows_is_refused(parts, solver):
    for model, y in ((ridge(solver=solver), Y), (classifier(solver=solver), LABEL)):
        with pytest.raises(ValueError, match="no chunks of rows: the iterable is empty, or all"):
            model.fit(chunks(parts, y))


@pytest.mark.parametrize(
    "chunk",
    [(X[:0], Y), (X, Y[:0]), (X[:0], Y[:0], WEIGHT), (X[:0], None)],
    ids=["targets alone", "rows alone", "weights alone", "no targets"],
)
def test_a_chunk_of_which_a_part_is_empty_is_refused(chunk):
    with pytest.raises(ValueError, match=r"0 sample|requires y"):
        ridge().fit([(X, Y, WEIGHT), chunk])


@pytest.mark.parametrize("kind", [KreinRidge, KreinRidgeClassifier])
@pytest.mark.parametrize("path", ["t.csv", Path("t.parquet")])
def test_a_path_is_told_how_to_be_read(kind, path):
    with pytest.raises(TypeError, match=r"X is the path 't\..*rows were expected.*chunks \(X, y\)"):
        kind().fit(path, Y)


@pytest.mark.parametrize("kind", [KreinRidge, KreinRidgeClassifier])
def test_a_generator_function_must_be_called(kind):
    with pytest.raises(TypeError, match=r"X is a function.*call it"):
        kind().fit(lambda: iter(chunks(FULL, Y)))
