"""The design of the benchmark of indefinite kernels, and its rows."""

import numpy as np
import pytest

from benchmarks.indefinite import design
from benchmarks.indefinite.design import rows_of

DELTA = design.MAIN[0]


def test_classifiers_are_trained_where_it_is_affordable():
    study, method = design.STUDIES[DELTA], design.METHODS[design.DESIGNED]
    for p, few in ((512, [0, 1]), (2048, [0]), (6912, [])):
        assert [seed for seed in range(10) if design.learns(study, method, p, seed)] == few
    assert not design.learns(study, design.METHODS[design.DESIGNED_IID], 512, 0)
    assert not design.learns(design.STUDIES["NTK"], method, 512, 0)


def save(path, name, n, d=3, n_test=None, n_classes=2):
    """Rows all of whose values differ; those of a test part reach further."""
    values = np.random.default_rng(1).permutation(n * d + (n_test or 0) * d).astype(float)
    X, y = values[: n * d].reshape(n, d), np.arange(n) % n_classes
    if n_test is None:
        np.savez(path / f"{name}.npz", X=X, y=y)
        return X
    X_test, y_test = 2.0 * values[n * d :].reshape(n_test, d), np.arange(n_test) % n_classes
    np.savez(
        path / f"{name}.npz",
        X_train=X, y_train=2 * y - 1, X_test=X_test, y_test=2 * y_test - 1,
    )  # fmt: skip
    return X


def test_letter_is_split_as_in_the_paper(tmp_path):
    save(tmp_path, "letter", 20_000, n_classes=26)
    rows = rows_of("letter", 3, tmp_path, on_sphere=False)
    assert (len(rows.train), len(rows.test)) == (8_000, 6_000)
    assert (len(rows.fit), len(rows.error)) == (5_000, 1_000)
    # Half of 26 letters, and no row in both parts: only clipped values can be in both.
    assert rows.y.mean() == pytest.approx(0.5, abs=0.02)
    assert not (set(rows.train[:, 0]) & set(rows.test[:, 0])) - {0.0, 1.0}
    other = rows_of("letter", 4, tmp_path, on_sphere=False)
    assert not np.array_equal(rows.train, other.train)


def test_labels_go_with_their_rows(tmp_path):
    """The class is 2 where the first column is large, which scaling does not change."""
    X = np.random.default_rng(0).uniform(size=(300, 3))
    np.savez(
        tmp_path / "covtype_93k.npz", X=X, y=np.where(X[:, 0] > 0.5, 2, 1 + 4 * (X[:, 1] > 0.5))
    )
    rows = rows_of("covtype_93k", 0, tmp_path, on_sphere=False)
    assert (len(rows.train), len(rows.test)) == (150, 150)
    for part, positive in ((rows.train, rows.y), (rows.test, rows.y_test)):
        assert part[positive, 0].min() > part[~positive, 0].max()


def test_rows_on_the_sphere(tmp_path):
    save(tmp_path, "cod_rna", 60, n_test=40)
    rows = rows_of("cod_rna", 0, tmp_path, on_sphere=True)
    for part in (rows.train, rows.test):
        np.testing.assert_allclose(np.linalg.norm(part, axis=1), 1.0)
        assert (part >= 0.0).all()
