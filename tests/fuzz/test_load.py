"""One model under many threads and processes, and fits with little memory."""

import os
import resource
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import bochner
from bochner.learned import Chains

SECONDS = 60.0
"""Seconds of predictions; `make test` has a twentieth of it."""


def fitted(kind):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    y = np.sin(X[:, 0])
    if kind == "learned":
        return bochner.TableRegressor(effort="quick", random_state=0).fit(X, y), X
    if kind == "chains":
        model = bochner.LearnedKernelRegressor(
            8, random_state=0, chains=Chains(n_burn_in=4, n_samples=4, n_chains=2)
        )
        return model.fit(X, y), X
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


def threads_and_processes(kind, folder, seconds):
    model, X = fitted(kind)
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


def test_threads_and_processes(tmp_path):
    threads_and_processes("fixed", tmp_path, SECONDS / 20.0)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["fixed", "learned", "chains"])
def test_threads_and_processes_for_a_minute(kind, tmp_path):
    threads_and_processes(kind, tmp_path, SECONDS)


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


@pytest.mark.slow
def test_a_hundred_thousand_levels_and_three_thousand_columns():
    """Tables that no one-hot encoding holds: a fit stays below two gigabytes."""
    rng = np.random.default_rng(0)
    n = 200_000
    levels = np.array([f"level {i}" for i in range(100_000)])
    table = pd.DataFrame({"level": levels[rng.integers(0, 100_000, n)], "x": rng.normal(size=n)})
    y = np.sin(table["x"].to_numpy()) + 0.1 * rng.normal(size=n)
    mean = bochner.TableRegressor(effort="quick", random_state=0).fit(table, y).predict(table)
    assert np.corrcoef(mean, y)[0, 1] > 0.9
    wide = rng.normal(size=(400, 3000))
    y = wide[:, 0]
    model = bochner.TableRegressor(effort="quick", random_state=0).fit(wide, y)
    assert np.isfinite(model.predict(wide)).all()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20  # Gigabytes, on Linux
    assert peak < 2.0


PARQUET = """
import resource, sys
import numpy as np, pyarrow.parquet as pq
import bochner
def chunks():
    for batch in pq.ParquetFile(sys.argv[1]).iter_batches(65_536):
        columns = [column.to_numpy() for column in batch.columns]
        yield np.column_stack(columns[:-1]), columns[-1]
model = bochner.KreinRidge(n_components=256, random_state=0)
model.fit(chunks())
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20, model.noise_variance_)
"""


@pytest.mark.slow
def test_a_million_rows_of_two_hundred_columns(tmp_path):
    """A file of 1.2 gigabytes is learned from in 2.5; its rows take 1.6 in double precision."""
    rng = np.random.default_rng(0)
    path = tmp_path / "rows.parquet"
    names = [f"x{j}" for j in range(200)]
    schema = pa.schema([(name, pa.float32()) for name in [*names, "target"]])
    with pq.ParquetWriter(path, schema) as writer:
        for _ in range(20):
            X = rng.normal(size=(50_000, 200)).astype(np.float32)
            y = np.sin(X.sum(axis=1) / 14.0).astype(np.float32)
            columns = dict(zip(names, X.T, strict=True)) | {"target": y}
            writer.write_table(pa.table(columns, schema=schema))
    found = subprocess.run(
        [sys.executable, "-c", PARQUET, path], capture_output=True, text=True, check=True
    )
    gigabytes, noise = map(float, found.stdout.split())
    assert gigabytes < 2.5
    assert noise < 0.1
