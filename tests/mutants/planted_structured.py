"""Bugs planted in frequencies held by Hadamard blocks, and the laws that must notice."""

import numpy as np
from laws import structured_laws as laws
from mutants.planted_evidence import edit
from mutants.registry import changes, planted, replaces

from bochner.spectral import schemes
from bochner.spectral.hadamard import HadamardRows


@changes(HadamardRows, "angles", laws.check_angles, name="one sign flipped")
def one_sign_flipped(angles, self, X):
    signs = self.signs.copy()
    signs[-1, 1, 0] *= -1
    return angles(HadamardRows(signs, self.row_scale, self.column_scale), X)


planted(laws.check_angles, name="transforms not orthonormal")(
    edit(HadamardRows, "angles", "-0.5 * n_rounds", "-1.0")
)


@planted(laws.check_directions, laws.check_radii, name="rows cut and not normalised")
def rows_cut_and_not_normalised(patch):
    unit = classmethod(lambda cls, signs, m, dim: cls(signs, np.ones(m), np.ones(dim)))
    patch.setattr(HadamardRows, "unit", unit)


replaces(HadamardRows, "__mul__", laws.check_radii, name="no radii")(lambda self, factor: self)
replaces(HadamardRows, "__truediv__", laws.check_radii, name="length scales multiply")(
    lambda self, divisor: HadamardRows(self.signs, self.row_scale, self.column_scale * divisor)
)
changes(
    HadamardRows, "unit", lambda: laws.check_error("normal"), name="the same signs for all blocks"
)(lambda unit, signs, m, dim: unit(np.broadcast_to(signs[:1], signs.shape), m, dim))
planted(lambda: laws.check_error("ones"), name="one transform for three")(
    lambda patch: patch.setattr(schemes, "_ROUNDS", 1)
)
