"""Bugs planted in frequencies held by Hadamard blocks, and the laws that must notice."""

import numpy as np
from laws import structured_laws as laws
from mutants.planted import Mutant

from bochner._numerics import hadamard
from bochner.sampling import HadamardRows, schemes


def one_sign_flipped(patch):
    angles = HadamardRows.angles

    def wrong(self, X):
        signs = self.signs.copy()
        signs[-1, 1, 0] *= -1
        return angles(HadamardRows(signs, self.row_scale, self.column_scale), X)

    patch.setattr(HadamardRows, "angles", wrong)


def transforms_not_orthonormal(patch):
    patch.setattr(hadamard, "_norm", lambda signs: 1.0 / signs.shape[-1])


def rows_cut_and_not_normalised(patch):
    unit = classmethod(lambda cls, signs, m, dim: cls(signs, np.ones(m), np.ones(dim)))
    patch.setattr(HadamardRows, "unit", unit)


def no_radii(patch):
    patch.setattr(HadamardRows, "__mul__", lambda self, factor: self)


def length_scales_multiply(patch):
    def times(self, divisor):
        return HadamardRows(self.signs, self.row_scale, self.column_scale * divisor)

    patch.setattr(HadamardRows, "__truediv__", times)


def the_same_signs_for_all_blocks(patch):
    unit = HadamardRows.unit

    def same(signs, m, dim):
        return unit(np.broadcast_to(signs[:1], signs.shape), m, dim)

    patch.setattr(HadamardRows, "unit", same)


def one_transform_for_three(patch):
    patch.setattr(schemes, "_ROUNDS", 1)


MUTANTS = (
    Mutant("one sign flipped", one_sign_flipped, (laws.check_angles,)),
    Mutant("transforms not orthonormal", transforms_not_orthonormal, (laws.check_angles,)),
    Mutant(
        "rows cut and not normalised",
        rows_cut_and_not_normalised,
        (laws.check_directions, laws.check_radii),
    ),
    Mutant("no radii", no_radii, (laws.check_radii,)),
    Mutant("length scales multiply", length_scales_multiply, (laws.check_radii,)),
    Mutant(
        "the same signs for all blocks",
        the_same_signs_for_all_blocks,
        (lambda: laws.check_error("normal"),),
    ),
    Mutant("one transform for three", one_transform_for_three, (lambda: laws.check_error("ones"),)),
)
