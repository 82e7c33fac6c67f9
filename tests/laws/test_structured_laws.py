"""Frequencies held by Hadamard blocks: products, directions, radii and errors."""

import pytest
from laws import structured_laws as laws


def test_products_are_those_of_the_matrix():
    laws.check_angles()


@pytest.mark.parametrize("dim", [64, 100])
def test_directions_are_uniform(dim):
    laws.check_directions(dim)


def test_radii_follow_their_law():
    laws.check_radii()


@pytest.mark.thorough
@pytest.mark.parametrize("place", laws.places())
def test_errors_are_those_of_orthogonal_blocks(place):
    laws.check_error(place)
