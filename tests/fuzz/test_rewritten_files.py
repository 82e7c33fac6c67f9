"""Model files that are rewritten and cut off while other processes read them."""

import subprocess
import sys
import time
from itertools import cycle

import numpy as np

import bochner

READER = """
import sys
import bochner
counts = [0, 0]
while min(counts) < 5 and sum(counts) < 5000:
    try:
        bochner.load(sys.argv[1])
        counts[0] += 1
    except bochner.files.ModelFileError as error:
        assert len(str(error)) < 700, error
        counts[1] += 1
print(*counts)
"""


def test_readers_next_to_a_writer(tmp_path):
    """Each reader gets the model or a refusal; a mapped file would end its process."""
    X = np.random.default_rng(0).normal(size=(50, 3))
    path = tmp_path / "model"
    bochner.save(bochner.KreinRidge(n_components=256, random_state=0).fit(X, X[:, 0]), path)
    whole = path.read_bytes()
    reader = subprocess.Popen(
        [sys.executable, "-W", "ignore", "-c", READER, path], stdout=subprocess.PIPE, text=True
    )
    cuts = np.random.default_rng(0).integers(1, len(whole), size=1000).tolist()
    for cut in cycle(cuts):
        if reader.poll() is not None:
            break
        with path.open("r+b") as file:  # In place, as no program should
            file.truncate(cut)
            file.seek(0)
            file.write(whole)
        time.sleep(5e-3)
    counts = list(map(int, reader.stdout.read().split()))
    assert reader.returncode == 0
    assert min(counts) >= 5, counts
