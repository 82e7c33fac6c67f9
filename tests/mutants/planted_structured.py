"""Bugs planted in frequencies held by Hadamard blocks, and the laws that must notice."""

import numpy as np
from laws import structured_laws as laws
from mutants.registry import changes, planted

from bochner.spectral.hadamard import HadamardRows


@changes(HadamardRows, "angles", laws.check_angles, name="one sign flipped")
def one_sign_flipped(angles, self, X):
    signs = self.signs.copy()
    signs[-1, 1, 0] *= -1
    return angles(HadamardRows(signs, self.row_scale, self.column_scale), X)


@planted(laws.check_directions, laws.check_radii, name="rows cut and not normalised")
def rows_cut_and_not_normalised(patch):
    unit = classmethod(lambda cls, signs, m, dim: cls(signs, np.ones(m), np.ones(dim)))
    patch.setattr(HadamardRows, "unit", unit)


changes(
    HadamardRows, "unit", lambda: laws.check_error("normal"), name="the same signs for all blocks"
)(lambda unit, signs, m, dim: unit(np.broadcast_to(signs[:1], signs.shape), m, dim))
