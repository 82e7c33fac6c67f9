"""Exponentials of compiled loops, against NumPy's."""

import numpy as np
from numpy.testing import assert_allclose

from bochner.tables import kernel_loops


def test_exponentials_are_those_of_numpy():
    """Exponents from zero to far below those of the smallest numbers, as Python computes them."""
    exponents = -np.r_[0.0, np.geomspace(1e-20, 700.0, 400), 750.0, 1e5, 1e300]
    values, powers = exponents.copy(), np.empty(len(exponents))
    kernel_loops.exponentials.py_func(values, powers, powers.view(np.int64))
    # Exponents below -708 give the smallest normal number, about 3e-308, in place of zero.
    assert_allclose(values, np.exp(exponents), rtol=4e-16, atol=1e-300)
