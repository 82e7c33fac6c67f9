"""Nothing reaches the network, unless a data set is downloaded by name."""

import subprocess
import sys

import pytest

pytestmark = pytest.mark.thorough

PROGRAM = """
import socket

def closed(*arguments, **options):
    raise OSError("the network was asked for")

socket.socket.connect = socket.create_connection = socket.getaddrinfo = closed
import numpy as np
import bochner

X = np.random.default_rng(0).normal(size=(60, 2))
for model in (bochner.TableRegressor(effort="quick"), bochner.KreinRidge(n_components=8)):
    bochner.save(model.fit(X, X[:, 0]), "model")
    assert np.isfinite(bochner.load("model").predict(X)).all()
"""


def test_no_connection_at_import_fit_save_or_load(tmp_path):
    found = subprocess.run(
        [sys.executable, "-c", PROGRAM], cwd=tmp_path, capture_output=True, text=True
    )
    assert found.returncode == 0, found.stderr
