"""Schemes: geometry, reproducibility and what they refuse."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from bochner.spectral import schemes as sampling

LAYOUT = (sampling.Directions(5), sampling.Uniforms(2))


@pytest.mark.parametrize("name", sampling.SCHEMES)
@pytest.mark.parametrize("m", [1, 3, 17])
def test_blocks_have_the_shapes_of_the_layout_and_seeds_repeat(name, m):
    blocks = sampling.SCHEMES[name].sample(LAYOUT, m, np.random.default_rng(0))
    again = sampling.SCHEMES[name].sample(LAYOUT, m, np.random.default_rng(0))
    other = sampling.SCHEMES[name].sample(LAYOUT, m, np.random.default_rng(1))
    assert [block.shape for block in blocks] == [(m, 5), (m, 2)]
    for first, second, third in zip(blocks, again, other, strict=True):
        assert_array_equal(first, second)
        assert not np.isin(first, third).any()


def test_orthogonal_blocks_are_orthogonal_and_strata_hold_one_row_each():
    directions, uniforms = sampling.Orthogonal().sample(LAYOUT, 13, np.random.default_rng(0))
    for block in (directions[:5], directions[5:10], directions[10:]):
        assert_allclose(block @ block.T, np.eye(len(block)), atol=1e-12)
    strata = np.sort(np.floor(13 * uniforms).astype(int), axis=0)
    assert_array_equal(strata, np.tile(np.arange(13)[:, None], 2))


@pytest.mark.parametrize("bad", ["sobol", 3, None, sampling.Iid])
def test_unknown_schemes_are_refused(bad):
    with pytest.raises(ValueError, match="'iid', 'orthogonal', 'structured'"):
        sampling.resolve_scheme(bad)
