"""Quick runs that several tests share."""

import pytest

from benchmarks import find, run


@pytest.fixture(scope="session")
def quick_run(tmp_path_factory):
    """Return a function from the name of a benchmark to the CSV of its quick run."""
    done = {}

    def path_of(name):
        if name not in done:
            done[name] = run(find(name), out=tmp_path_factory.mktemp(name), quick=True)
        return done[name]

    return path_of
