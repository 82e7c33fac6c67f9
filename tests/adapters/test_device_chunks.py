"""Chunks on their way to a device."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

torch = pytest.importorskip("torch")

from bochner.adapters.torch import DeviceChunks  # noqa: E402

X = np.random.default_rng(0).normal(size=(30, 2))


def chunks():
    return [(X[k : k + 10], X[k : k + 10, 0]) for k in (0, 10, 20)]


def test_rows_are_tensors_and_the_rest_is_as_it_was():
    weight = np.arange(10.0)
    given = [(*chunk, weight) for chunk in chunks()]
    made = list(DeviceChunks(given, "cpu"))
    assert len(made) == 3
    for (rows, y, w), (known, target, _) in zip(made, given, strict=True):
        assert isinstance(rows, torch.Tensor)
        assert rows.dtype == torch.float64
        assert_array_equal(rows.numpy(), known)
        assert y is target
        assert w is weight


def test_a_list_is_read_again_and_a_generator_is_not():
    again = DeviceChunks(chunks(), "cpu")
    assert len(list(again)) == len(list(again)) == 3
    once = DeviceChunks(iter(chunks()), "cpu")
    assert len(list(once)) == 3
    assert list(once) == []
    assert list(DeviceChunks([], "cpu")) == []


def test_one_chunk_is_read_ahead():
    read = []

    def reading():
        for number, chunk in enumerate(chunks()):
            read.append(number)
            yield chunk

    made = iter(DeviceChunks(reading(), "cpu"))
    seen = [(next(made), len(read))[1] for _ in range(3)]
    assert seen == [2, 3, 3]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("given", [np.float32, np.int64])
def test_types(dtype, given):
    rows = np.arange(6).reshape(3, 2).astype(given)
    ((made, _),) = DeviceChunks([(rows, rows[:, 0])], "cpu", dtype)
    assert made.dtype == dtype
    assert_array_equal(made.numpy(), rows)


def test_files_that_cannot_be_written_to(tmp_path, recwarn):
    np.save(tmp_path / "rows.npy", X)
    mapped = np.load(tmp_path / "rows.npy", mmap_mode="r")
    ((made, _),) = DeviceChunks([(mapped, X[:, 0])], "cpu")
    assert_array_equal(made.numpy(), X)
    assert not recwarn.list


def test_text_is_refused():
    with pytest.raises(TypeError, match="arrays of numbers, got <U1"):
        list(DeviceChunks([(np.array([["a"]]), np.zeros(1))], "cpu"))
