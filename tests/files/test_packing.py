"""Packed arrays are those that were packed, bit for bit, and files cannot make them fail badly."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

import bochner
from bochner.files.packing import pack_table, pack_triangle, unpack_table, unpack_triangle

RNG = np.random.default_rng(0)


def encoded(n_rows, widths, n_numbers, seed=0):
    """Numbers, one-hot blocks with a column for unknown levels, and all of them once more."""
    rng = np.random.default_rng(seed)
    blocks = [np.eye(width + 1)[rng.integers(0, width, n_rows)] for width in widths]
    indicator = (rng.random((n_rows, 2)) < 0.3).astype(float)
    once = np.hstack([rng.normal(size=(n_rows, n_numbers)), *blocks, indicator])
    return np.hstack([once, once[:, n_numbers:]])


def assert_same_bits(X):
    parts = pack_table(X)
    assert parts is not None
    found = unpack_table(parts, X.shape)
    assert_array_equal(found.view(np.uint64), np.ascontiguousarray(X).view(np.uint64))
    return sum(part.nbytes for part in parts.values())


@given(
    st.integers(300, 600),
    st.lists(st.integers(1, 40), min_size=2, max_size=5),
    st.integers(0, 2),
    st.integers(0, 99),
)
@settings(max_examples=30, deadline=None)
def test_tables_of_levels_are_packed_without_a_change(n_rows, widths, n_numbers, seed):
    X = encoded(n_rows, widths, n_numbers, seed)
    if 3 * n_numbers < X.shape[1] and X.nbytes > 2**14:
        assert_same_bits(X)


def test_levels_take_a_byte_and_equal_columns_none():
    n_rows = 1000
    one, two = (assert_same_bits(encoded(n_rows, [30] * k, 1)) for k in (1, 2))
    assert n_rows <= two - one <= n_rows + 2 * 31 * 4 + 4
    of_many = encoded(n_rows, [300], 1)[:, :304]
    assert assert_same_bits(of_many) <= one + n_rows + 4 * 300


def test_a_file_of_many_levels_does_not_explode_in_memory():
    X = np.tile(encoded(1000, [250, 250], 0), 2)
    assert assert_same_bits(X) > X.nbytes / 1024
    assert pack_table(X)["codes"].size == 0


def test_signs_of_zeros_stay():
    X = encoded(500, [12, 4], 1)
    X[3, 5] = -0.0
    assert_same_bits(X)


def test_other_tables_are_left_as_they_are():
    assert pack_table(RNG.normal(size=(500, 20))) is None
    assert pack_table(encoded(20, [3], 1)) is None
    assert pack_table(np.zeros((5000, 100))) is None  # 4 MB from nothing
    assert pack_table(encoded(500, [12, 4], 1).astype(np.float32)) is None


@pytest.mark.parametrize("is_lower", [True, False])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_triangles_are_packed_without_a_change(is_lower, dtype):
    X = RNG.normal(size=(100, 100)).astype(dtype)
    X = np.tril(X) if is_lower else np.triu(X)
    packed, found = pack_triangle(X)
    assert found == is_lower
    assert packed.dtype == dtype
    assert packed.nbytes <= 0.51 * X.nbytes
    assert_array_equal(unpack_triangle(packed, 100, is_lower), X)
    X[3, 7] = X[7, 3] = 1.0
    assert pack_triangle(X) is None


def test_triangles_with_signed_zeros_are_not_packed():
    X = np.tril(RNG.normal(size=(100, 100)))
    X[3, 7] = -0.0
    assert pack_triangle(X) is None


def sound():
    X = encoded(400, [30, 12], 1)
    return dict(pack_table(X)), X.shape


CHANGES = {
    "rows": lambda parts, shape: (parts, (shape[0] + 1, shape[1])),
    "columns": lambda parts, shape: (parts, (shape[0], shape[1] - 1)),
    "negative": lambda parts, shape: (parts, (-1, -1)),
    "huge": lambda parts, shape: (parts, (2**40, shape[1])),
    "source": lambda parts, shape: ({**parts, "source": parts["source"] + 1}, shape),
    "levels": lambda parts, shape: ({**parts, "codes": parts["codes"] + 1}, shape),
    "widths": lambda parts, shape: ({**parts, "widths": parts["widths"] - 31}, shape),
    "bits": lambda parts, shape: ({**parts, "bits": parts["bits"][:, 1:]}, shape),
    "flat": lambda parts, shape: ({**parts, "numbers": parts["numbers"].ravel()}, shape),
    "no floats": lambda parts, shape: ({**parts, "source": parts["source"] * 0.5}, shape),
}


@pytest.mark.parametrize("name", CHANGES)
def test_parts_that_do_not_fit_are_refused(name):
    with pytest.raises(ValueError, match=r"fit together|unusable shapes|far beyond"):
        unpack_table(*CHANGES[name](*sound()))


@pytest.mark.parametrize(("size", "count"), [(-1, 0), (4, 9), (2**40, 10)])
def test_triangles_of_another_size_are_refused(size, count):
    with pytest.raises(ValueError, match="a triangle of size"):
        unpack_triangle(np.zeros(count), size, True)


def test_long_lists_of_numbers_are_tensors(tmp_path):
    X = RNG.normal(size=(3000, 6))
    encoder = bochner.TableEncoder(numeric="normal_quantile").fit(X)
    bochner.save(encoder, tmp_path / "model.bochner")
    loaded = bochner.load(tmp_path / "model.bochner")
    assert loaded.columns_ == encoder.columns_
    assert type(loaded.columns_[0]["points"][0]) is float
    assert (tmp_path / "model.bochner").stat().st_size < 1.1 * (6 * 2 * 1000 * 8)


def assert_levels(n_levels):
    """A block of levels, each of which occurs, in whatever integers the codes are stored."""
    codes = np.random.default_rng(3).permutation(np.arange(4 * n_levels) % n_levels)
    X = np.eye(n_levels)[codes]
    assert_same_bits(X)
    codes_of_parts = pack_table(X)["codes"]
    assert codes_of_parts.dtype == (np.uint8 if n_levels <= 256 else np.uint16)


@pytest.mark.parametrize("n_levels", [255, 256, 257])
def test_as_many_levels_as_bytes_have_values(n_levels):
    assert_levels(n_levels)
