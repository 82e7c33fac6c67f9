"""Norms of orthogonal frequencies that are coupled in pairs."""

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr
from scipy.stats import chi

from bochner._base.arrays import Array
from bochner.spectral import Coordinates, Orthogonal, Scheme, Uniforms
from bochner.spectral.hadamard import Matrix
from bochner.spectral.schemes import Layout


@dataclass(frozen=True, slots=True)
class CoupledNorms(Scheme):
    """Orthogonal directions, the norms of which are antithetic in pairs.

    One of a pair has the uniform ``u`` and the other ``1 - u``: the coupling of two norms that
    solves the optimal transport problem of Reid, Markou, Choromanski, Turner and Weller,
    "Variance-reducing couplings for random features", 2024. With ``are_stratified`` the pairs have
    one uniform in each of as many strata, else the pairs are independent, as in the paper.
    """

    are_stratified: bool = False

    def sample(self, layout: Layout, m: int, rng: np.random.Generator) -> list[Matrix]:
        blocks: list[Matrix] = []
        for block, stream in zip(layout, rng.spawn(len(layout)), strict=True):
            if isinstance(block, Uniforms):
                blocks.append(self._pairs(m, block.dim, stream))
                continue
            directions = Orthogonal().directions(m, block.dim, stream)
            if isinstance(block, Coordinates):
                radius = chi.ppf(self._pairs(m, 1, stream), block.dim)
                blocks.append(np.clip(ndtr(radius * directions), 2.0**-54, 1.0 - 2.0**-53))
            else:
                blocks.append(directions)
        return blocks

    def _pairs(self, m: int, dim: int, rng: np.random.Generator) -> Array:
        """Return uniforms (m, dim), in which two neighbours in a block sum to one."""
        half = -(-m // 2)
        u = rng.random((half, dim))
        if self.are_stratified:
            u = (rng.permuted(np.tile(np.arange(half)[:, None], (1, dim)), axis=0) + u) / half
        u = np.clip(u, 2.0**-53, 1.0 - 2.0**-53)
        return np.stack((u, 1.0 - u), axis=1).reshape(-1, dim)[:m]
