"""Hilbert's curve."""

import numpy as np
import pytest

from bochner.spectral.lattice import hilbert_order


@pytest.mark.parametrize(("dim", "side"), [(1, 16), (2, 2), (2, 32), (3, 2), (3, 16)])
def test_the_curve_visits_each_point_once_and_moves_by_one_step(dim, side):
    cube = np.stack(np.meshgrid(*[np.arange(side)] * dim), axis=-1).reshape(-1, dim)
    order = hilbert_order(cube)
    assert np.array_equal(np.sort(order), np.arange(side**dim))
    assert (np.abs(np.diff(cube[order], axis=0)).sum(axis=1) == 1).all()


def test_a_subset_is_visited_in_the_order_of_the_whole():
    rng = np.random.default_rng(0)
    cube = np.stack(np.meshgrid(*[np.arange(8)] * 3), axis=-1).reshape(-1, 3)
    place = np.argsort(hilbert_order(cube))
    subset = rng.choice(len(cube), 100, replace=False)
    subset[0] = np.argmax(cube.sum(axis=1))  # so that both are of the same number of bits
    assert (np.diff(place[subset][hilbert_order(cube[subset])]) > 0).all()
