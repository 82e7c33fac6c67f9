"""Tables and models that several files of tests read."""

import pytest
from cli.command import fit, table, write


@pytest.fixture
def good(tmp_path):
    return write(table(), tmp_path / "t.csv")


@pytest.fixture(scope="session")
def regressor(tmp_path_factory):
    """A model file, fitted once for all tests that only read it."""
    return fit(tmp_path_factory.mktemp("regressor"), table())
