"""The rule for ``scheme="auto"``."""

import numpy as np
import pytest

from bochner.spectral import Coordinates, Directions, MinimumEnergy, Orthogonal, Uniforms
from bochner.spectral.schemes import Automatic, ShiftedLattice, best_scheme, transforms_pay

PRODUCT, MIXTURE = "law with independent coordinates", "mixture of scales"


def layout_of(kind, dim):
    if kind == PRODUCT:
        return (Coordinates(dim),)
    return (Directions(dim), Uniforms(2 if kind == MIXTURE else 1))


@pytest.mark.parametrize(
    ("kind", "dim", "scheme"),
    [
        (PRODUCT, 2, ShiftedLattice()),
        (PRODUCT, 3, MinimumEnergy()),
        (MIXTURE, 3, ShiftedLattice()),
        (MIXTURE, 4, MinimumEnergy()),
        ("one scale", 2, MinimumEnergy()),
        ("one scale", 64, MinimumEnergy()),
        ("one scale", 65, Orthogonal()),
    ],
)
def test_the_scheme_of_a_law(kind, dim, scheme):
    layout = layout_of(kind, dim)
    assert best_scheme(layout) == scheme
    drawn = [each.sample(layout, 16, np.random.default_rng(3)) for each in (Automatic(), scheme)]
    for automatic, chosen in zip(*drawn, strict=True):
        np.testing.assert_array_equal(np.asarray(automatic), np.asarray(chosen))


@pytest.mark.parametrize(
    ("n_nonzero", "dim", "m", "pays"),
    [
        (255, 255, 4096, False),  # Too few inputs
        (256, 256, 4096, True),  # 256 multiplications for 8 additions
        (512, 512, 512, True),
        (512, 512, 32, False),  # A block has 512 rows, of which 32 are needed
        (20, 512, 4096, False),  # Few inputs of a row are nonzero
        (520, 520, 4096, True),  # 52 multiplications for an addition, and 4 blocks of 1024
    ],
)
def test_transforms_pay_where_they_save_multiplications(n_nonzero, dim, m, pays):
    assert transforms_pay(n_nonzero, dim, m) == pays
