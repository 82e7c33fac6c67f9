"""One model under many threads and processes, and fits with little memory."""

import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import bochner

pytestmark = pytest.mark.thorough


def fitted():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    y = np.sin(X[:, 0])
    return bochner.KreinRidge(n_components=128, random_state=0).fit(X, y), X


def differing(model, X, until):
    """Ask a model until a time; return answers that differ from the first, their number, and it."""
    first = model.predict(X, return_std=True)
    n_differing, count = 0, 0
    while time.time() < until:
        found = model.predict(X, return_std=True)
        n_differing += not all(np.array_equal(a, b) for a, b in zip(first, found, strict=True))
        count += 1
    return n_differing, count, first


PROCESS = """
import sys
import numpy as np
import bochner
from fuzz.test_load import differing
model, X = bochner.load(sys.argv[1]), np.load(sys.argv[2])
n_differing, count, first = differing(model, X, float(sys.argv[3]))
np.save(sys.argv[4], np.array(first))
print(n_differing, count)
"""


def test_threads_and_processes(tmp_path):
    model, X = fitted()
    folder, seconds = tmp_path, 3.0
    path, rows = folder / "model", folder / "rows.npy"
    bochner.save(model, path)
    np.save(rows, X)
    expected = np.array(bochner.load(path).predict(X, return_std=True))
    until = time.time() + seconds
    shared = bochner.load(path)
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).parents[1])}
    children = [
        subprocess.Popen(
            [sys.executable, "-c", PROCESS, path, rows, str(until), folder / f"{i}.npy"],
            stdout=subprocess.PIPE,
            text=True,
            env=environment,
        )
        for i in range(4)
    ]
    with ThreadPoolExecutor(8) as threads:
        own = list(threads.map(lambda _: differing(shared, X, until), range(8)))
    for n_differing, count, first in own:
        assert (n_differing, count > 0) == (0, True)
        np.testing.assert_array_equal(first, expected)
    for i, child in enumerate(children):
        said, _ = child.communicate(timeout=60)
        assert child.returncode == 0
        assert said.split()[0] == "0"
        # Another number of threads of linear algebra rounds differently.
        np.testing.assert_allclose(np.load(folder / f"{i}.npy"), expected, rtol=1e-12)


LIMITED = """
import resource, sys
import numpy as np
import bochner
rng = np.random.default_rng(0)
X = rng.normal(size=(40_000, 2))
y = X[:, 0]
bochner.KreinRidge(n_components=16, random_state=0).fit(X[:200], y[:200])  # Loads the libraries.
limit = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (limit + int(sys.argv[1]) * 2**20,) * 2)
try:
    model = bochner.KreinRidge(n_components=int(sys.argv[2]), random_state=0).fit(X, y)
except MemoryError as error:
    print("refused", error)
else:
    print("fitted", np.corrcoef(model.predict(X[:1000]), y[:1000])[0, 1] > 0.9)
"""


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="needs Linux")
@pytest.mark.parametrize(("megabytes", "n_components", "said"), [
    (400, 512, "fitted True"),
    (100, 6000, "refused"),
])  # fmt: skip
def test_a_limit_of_the_system(megabytes, n_components, said):
    """Blocks keep a fit small; what is larger than the limit ends in a MemoryError."""
    found = subprocess.run(
        [sys.executable, "-c", LIMITED, str(megabytes), str(n_components)],
        capture_output=True,
        text=True,
    )
    assert found.returncode == 0, found.stderr
    assert found.stdout.startswith(said), found.stdout
