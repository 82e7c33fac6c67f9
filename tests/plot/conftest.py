"""Pictures that leave no figure of pyplot open."""

import pytest
from matplotlib import pyplot


@pytest.fixture(autouse=True)
def no_figure_stays_open():
    yield
    assert pyplot.get_fignums() == []
