"""Ridge models on the partitions of any engine are those on the same rows in memory."""

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from engines.engines import InProcess
from engines.rows import LABELS, NEW, SIGNAL, WEIGHT, X, Y, relative_error
from flat_parameters import flat

from bochner import KreinRidge, KreinRidgeClassifier
from bochner.engines import PartitionedRows, collected

EXACT = 1e-10
CUTS = (0, 50, 57, 170, 200, 240)
BOTH = np.column_stack((Y, SIGNAL))


def ridge(**parameters):
    return flat(KreinRidge, **{"n_components": 64, "random_state": 1, **parameters})


def cut(*columns):
    """Tuples of partitions of several sizes."""
    return [tuple(column[a:b] for column in columns) for a, b in pairwise(CUTS)]


def placed(engine, parts, **names):
    return PartitionedRows(engine, engine.place(parts), **names)


def assert_same_fit(there, here):
    for name in ("gram", "cross", "square", "features"):
        assert relative_error(getattr(there.sums_, name), getattr(here.sums_, name)) < EXACT
    assert there.sums_.n_samples == here.sums_.n_samples
    assert there.predict(NEW).shape == here.predict(NEW).shape
    assert relative_error(there.predict(NEW), here.predict(NEW)) < EXACT


CASES = {
    "weights and an intercept": ({"fit_intercept": True}, (X, Y + 5.0, WEIGHT)),
    "two targets": ({}, (X, BOTH)),
    "float32": ({}, (X.astype(np.float32), Y)),
}


@pytest.mark.parametrize("case", CASES)
def test_sums_of_partitions_give_the_fit_in_memory(case, engine):
    parameters, columns = CASES[case]
    there = ridge(**parameters).fit(placed(engine, cut(*columns)))
    assert_same_fit(there, ridge(**parameters).fit(*columns))


def test_fits_repeat_to_the_last_bit(engine):
    rows = placed(engine, cut(X, Y))
    np.testing.assert_array_equal(ridge().fit(rows).coef_, ridge().fit(rows).coef_)


@pytest.mark.parametrize("weight", [(), (WEIGHT,)], ids=["plain", "weighted"])
def test_classes_are_those_of_all_partitions(weight, engine):
    order = np.argsort(LABELS)  # some classes are in some partitions only
    columns = [column[order] for column in (X, LABELS, *weight)]
    made = KreinRidgeClassifier(n_components=64, random_state=1)
    there = made.fit(placed(engine, cut(*columns))).predict_proba(NEW)
    here = made.fit(*columns).predict_proba(NEW)
    # Equal up to the tolerance that the softmax is found to.
    assert relative_error(there, here) < 1e-7


def test_conjugate_gradients_take_passes_over_partitions(engine):
    there = ridge(solver="cg", tol=1e-8, alpha=0.1).fit(placed(engine, cut(X, Y)))
    assert there.n_iter_ >= 1
    assert relative_error(there.predict(X), ridge(alpha=0.1).fit(X, Y).predict(X)) < 1e-6


def test_columns_of_data_frames_have_names(engine):
    table = pd.DataFrame(X, columns=["a", "b", "c"]).assign(y=Y, weight=WEIGHT)
    parts = [part for (part,) in cut(table)]
    there = ridge().fit(placed(engine, parts, target="y", sample_weight="weight"))
    frame = table[["a", "b", "c"]]
    here = ridge().fit(frame, Y, WEIGHT)
    assert there.feature_names_in_.tolist() == ["a", "b", "c"]
    assert relative_error(there.predict(frame), here.predict(frame)) < EXACT
    both = [part.assign(z=part["y"]) for part in parts]
    two = ridge().fit(placed(engine, both, target=["y", "z"], sample_weight="weight"))
    assert relative_error(two.predict(frame)[:, 1], here.predict(frame)) < EXACT


def test_parts_may_be_empty_in_pieces_or_without_weight(engine):
    first, second, third, *rest = cut(X, Y)
    weight = np.ones(len(Y))
    weight[CUTS[1] : CUTS[2]] = 2.0
    weight[CUTS[2] : CUTS[3]] = 0.0
    twice = (*second, np.full(len(second[1]), 2.0))
    without = (*third, np.zeros(len(third[1])))
    parts = [[], first, (X[:0], Y[:0]), without, [twice, *rest], []]
    assert_same_fit(ridge().fit(placed(engine, parts)), ridge().fit(X, Y, weight))
    with pytest.raises(ValueError, match="There are no rows"):
        ridge().fit(placed(engine, [[], []]))


def test_errors_name_the_partition_and_leave_the_model(engine):
    model = ridge().fit(X, Y)
    before = model.posterior_
    parts = cut(np.where(np.arange(len(X))[:, None] == 180, np.nan, X), Y)
    with pytest.raises(ValueError, match="In partition 3: Input X contains NaN") as found:
        model.fit(placed(engine, parts))
    assert type(found.value) is ValueError
    assert model.posterior_ is before


ODD = X[:10], Y[:10]
BAD = {
    "fewer targets": ((X[:10], Y[:9]), {}, "In partition 1: X has 10 rows and y has 9"),
    "negative": ((*ODD, -np.ones(10)), {}, "In partition 1: sample_weight .* not negative"),
    "an array": (X[:10], {}, r"In partition 1: Expected a tuple \(X, y\).* got ndarray"),
    "columns": ((X[:10, :2], Y[:10]), {}, "Partition 1 has 2 columns and one target, and part"),
    "no frame": (ODD, {"target": "y"}, "a data frame was expected, got tuple"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_parts_are_refused(case):
    part, names, message = BAD[case]
    with pytest.raises((TypeError, ValueError), match=message):
        ridge().fit(PartitionedRows(InProcess(), [ODD, part, ODD], **names))


def test_rows_that_do_not_belong_there_are_refused():
    rows = PartitionedRows(InProcess(), [ODD])
    with pytest.raises(ValueError, match="without y and sample_weight"):
        ridge().fit(rows, Y)
    with pytest.raises(TypeError, match=r"call rows\.apply\(model\.predict\)"):
        ridge().fit(rows).predict(rows)
    with pytest.raises(TypeError, match="methods map and tree_reduce"):
        PartitionedRows(InProcess, [ODD])
    with pytest.raises(ValueError, match="also need target"):
        PartitionedRows(InProcess(), [ODD], sample_weight="w")
    with pytest.raises(ValueError, match="at least two classes"):
        KreinRidgeClassifier().fit(PartitionedRows(InProcess(), [(X, np.ones(len(X)))]))


def test_many_rows_choose_the_kernel_by_a_sample(monkeypatch):
    monkeypatch.setattr(collected, "SAMPLE_ROWS", 50)
    rows = placed(InProcess(), cut(X, Y))
    here = ridge(length_scale=1.0).fit(X, Y)
    assert relative_error(ridge(length_scale=1.0).fit(rows).coef_, here.coef_) < EXACT
    scales = ridge().fit(rows).kernel_.length_scale
    ratio = np.divide(scales, ridge().fit(X, Y).kernel_.length_scale)
    assert ratio.min() > 0.5
    assert ratio.max() < 2.0
