"""Checkpoint files: what is written is read back bit for bit, whole or not at all."""

import io
import os

import numpy as np
import pytest
from files.same import assert_same
from numpy.testing import assert_array_equal

from bochner.learned.checkpoint import problem_paths, read_checkpoint, write_checkpoint
from bochner.learned.draws import ChainDraw
from bochner.learned.gaussian_components import Components

RNG = np.random.default_rng(0)


def some_draw(full):
    components = Components(RNG.random(2), RNG.normal(size=(2, 3)), RNG.normal(size=(2, 3, 3)))
    whitener = np.triu(RNG.normal(size=(5, 5))).astype(np.float32)
    return ChainDraw(
        omega=RNG.normal(size=(2, 3)),
        coef=RNG.normal(size=5),
        precision=0.1 + 0.2,
        noise_variance=1.0 / 3.0,
        log_density=-np.pi * 1e5,
        whitener=whitener if full else None,
        components=components if full else None,
    )


def some_content(n_draws=3):
    rng = np.random.default_rng(7)
    rng.integers(10, dtype=np.uint32)
    return {
        "fingerprint": "f",
        "rng": rng.bit_generator.state,
        "stage": 1,
        "iteration": 20,
        "seconds": 0.1 + 0.7,
        "n_burn_in": 14,
        "records": [
            {"log_evidence": -1.0 / 3.0, "seconds": 1e-300},
            *[{"log_evidence": 2e200}] * (13 + n_draws),
        ],
        "state": {
            "omega": RNG.normal(size=(1, 1)),
            "precision": 1.0 / 3.0,
            "step_sizes": {"hmc": 0.1 + 0.2, "precision": 1.0 / 7.0},
            "prior": {"labels": np.arange(3), "concentration": float(np.nextafter(1.0, 2.0))},
            "latent": {},
        },
        "draws": [some_draw(index % 2 == 0) for index in range(n_draws)],
    }


@pytest.fixture
def path(tmp_path):
    return tmp_path / "fit.checkpoint"


@pytest.mark.parametrize("n_draws", [0, 3])
def test_what_is_written_is_read(path, n_draws):
    content = some_content(n_draws)
    write_checkpoint(path, content)
    found = read_checkpoint(path)
    for name in ("fingerprint", "rng", "stage", "iteration", "seconds", "n_burn_in", "records"):
        assert found[name] == content[name]
    # A matrix of one number stays a matrix, a number a number.
    assert_same(found["state"], content["state"])
    assert type(found["state"]["prior"]["concentration"]) is float
    assert len(found["draws"]) == n_draws
    for one, other in zip(found["draws"], content["draws"], strict=True):
        assert_same(one, other)


def test_the_generator_goes_on(path):
    content = some_content()
    write_checkpoint(path, content)
    first, second = np.random.default_rng(1), np.random.default_rng(2)
    first.bit_generator.state = content["rng"]
    second.bit_generator.state = read_checkpoint(path)["rng"]
    assert_array_equal(
        first.integers(9, size=5, dtype=np.uint32), second.integers(9, size=5, dtype=np.uint32)
    )
    assert_array_equal(first.normal(size=5), second.normal(size=5))


@pytest.mark.parametrize("failing", ["savez", "fsync", "replace"])
def test_a_write_that_fails_leaves_the_file_before(path, failing, monkeypatch):
    write_checkpoint(path, some_content())
    before = path.read_bytes()

    def fail(file, *args, **arrays):
        if failing == "savez":
            file.write(b"half")
        raise KeyboardInterrupt

    monkeypatch.setattr(np if failing == "savez" else os, failing, fail)
    with pytest.raises(KeyboardInterrupt):
        write_checkpoint(path, some_content())
    assert path.read_bytes() == before
    assert list(path.parent.iterdir()) == [path]


def test_every_cut_is_noticed(path):
    write_checkpoint(path, some_content())
    content = path.read_bytes()
    for size in range(0, len(content), 97):
        path.write_bytes(content[:size])
        with pytest.raises(ValueError, match="is not a checkpoint of a fit, or is damaged"):
            read_checkpoint(path)


def test_other_files_are_refused_without_advice_of_numpy(path):
    path.write_text("a,b\n1,2\n")
    with pytest.raises(ValueError, match=r"damaged \(it is not an archive of arrays\); delete it"):
        read_checkpoint(path)
    assert problem_paths(path, count=1, n_chains=1) == [path]
    for counts in ((1, 2), (3, 1)):
        with pytest.raises(ValueError, match="a file that this fit has not written"):
            problem_paths(path, *counts)


def test_flipped_bytes_of_the_numbers_are_noticed(path):
    content = some_content()
    write_checkpoint(path, content)
    whole = path.read_bytes()
    omega = content["draws"][1].omega.tobytes()
    place = whole.index(omega)
    for offset in range(0, len(omega), 5):
        bad = bytearray(whole)
        bad[place + offset] ^= 4
        path.write_bytes(bytes(bad))
        with pytest.raises(ValueError, match="damaged"):
            read_checkpoint(path)


def npz(**arrays):
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)
    return buffer.getvalue()


def npy(array):
    buffer = io.BytesIO()
    np.save(buffer, array)
    return buffer.getvalue()


def text(value):
    return np.frombuffer(value, dtype=np.uint8)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{}",
        b"\x80\x04N.",
        npy(np.ones(3)),
        npz(a=np.ones(3)),
        npz(header=text(b"[1, 2]")),
        npz(header=text(b"\xff{")),
        npz(header=text(b'{"state": {}}')),
        npz(header=text(b'{"state": {}, "draws": []}')),
        npz(header=text(b'{"state": {}, "draws": [{}]}')),
    ],
    ids=lambda content: f"{len(content)} bytes",
)
def test_other_files_are_refused(path, content):
    path.write_bytes(content)
    with pytest.raises(ValueError, match="delete it to start anew"):
        read_checkpoint(path)


def test_code_in_a_file_is_not_run(path, tmp_path):
    class Trap:
        def __reduce__(self):
            return (open, (str(tmp_path / "trapped"), "w"))

    path.write_bytes(npz(header=np.array([Trap()], dtype=object)))
    with pytest.raises(ValueError, match="delete it to start anew"):
        read_checkpoint(path)
    assert not (tmp_path / "trapped").exists()


def test_a_pipe_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match="is not an ordinary file: give another path"):
        read_checkpoint(tmp_path / "pipe")
