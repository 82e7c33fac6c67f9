"""A model file is written whole or not at all."""

import errno
import os

import pytest

import bochner
from bochner.files import ModelFileError
from bochner.kernels import Gaussian, Matern


def fail(*arguments):
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def interrupt(*arguments):
    raise KeyboardInterrupt


@pytest.mark.parametrize("function", ["fsync", "replace"])
@pytest.mark.parametrize(("failure", "error"), [(fail, OSError), (interrupt, KeyboardInterrupt)])
def test_an_interrupted_write_leaves_the_old_file(function, failure, error, tmp_path, monkeypatch):
    path = tmp_path / "model.bochner"
    bochner.save(Gaussian(), path)
    before = path.read_bytes()
    monkeypatch.setattr(os, function, failure)
    with pytest.raises(error):
        bochner.save(Matern(), path)
    assert path.read_bytes() == before
    assert list(tmp_path.iterdir()) == [path]
    monkeypatch.undo()
    bochner.save(Matern(), path)
    assert bochner.load(path) == Matern()
    assert list(tmp_path.iterdir()) == [path]


def test_the_file_is_flushed_to_the_disk_before_it_is_renamed(tmp_path, monkeypatch):
    calls = []
    fsync, replace = os.fsync, os.replace
    monkeypatch.setattr(os, "fsync", lambda *a: (calls.append("fsync"), fsync(*a)))
    monkeypatch.setattr(os, "replace", lambda *a: (calls.append("replace"), replace(*a)))
    bochner.save(Gaussian(), tmp_path / "model")
    assert calls == ["fsync", "replace", "fsync"]  # The file, its name, and the folder of both


def test_directories_and_missing_folders(tmp_path):
    with pytest.raises(ModelFileError, match="is a directory; give the name of a file"):
        bochner.save(Gaussian(), tmp_path)
    with pytest.raises(ModelFileError, match="missing is not a directory; create it first"):
        bochner.save(Gaussian(), tmp_path / "missing" / "model")
    assert not list(tmp_path.iterdir())


def test_a_link_is_followed(tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "model")
    bochner.save(Gaussian(), tmp_path / "link")
    assert (tmp_path / "link").is_symlink()
    assert bochner.load(tmp_path / "model") == Gaussian()


def test_what_a_killed_writer_left_is_removed(tmp_path):
    names = [f"model.{token * 8}.partial" for token in ("0a", "1b")]
    others = ["model.partial", "model.1c.partial", f"other.{'1d' * 8}.partial"]
    for name in (*names, *others):
        (tmp_path / name).touch()
    for name in (names[0], *others):
        os.utime(tmp_path / name, (0, 0))
    bochner.save(Gaussian(), tmp_path / "model")
    # What is recent may have a writer.
    assert sorted(p.name for p in tmp_path.iterdir()) == sorted(["model", names[1], *others])


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everything")
def test_a_file_that_may_not_be_written(tmp_path):
    (tmp_path / "model").touch(mode=0o400)
    with pytest.raises(PermissionError, match="may not be written"):
        bochner.save(Gaussian(), tmp_path / "model")


def test_what_is_no_file_is_not_replaced(tmp_path):
    """Neither is a device: as root, ``save(model, "/dev/null")`` made a file of it."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(OSError, match="is not an ordinary file, and would be replaced"):
        bochner.save(Gaussian(), pipe)
    assert pipe.is_fifo()
    assert list(tmp_path.iterdir()) == [pipe]


@pytest.mark.parametrize("path", [None, 3, b"model", []])
def test_what_is_no_path_is_refused(path):
    with pytest.raises(TypeError, match="path must be a str or path-like, got"):
        bochner.save(Gaussian(), path)
    with pytest.raises(TypeError, match="path must be a str or path-like, got"):
        bochner.load(path)


@pytest.mark.parametrize("path", ["a\0b", "a" * 300, "\ud800"])
def test_names_that_no_file_can_have(path):
    with pytest.raises(ValueError, match="path must be the name of a file, got "):
        bochner.save(Gaussian(1.0), path)
