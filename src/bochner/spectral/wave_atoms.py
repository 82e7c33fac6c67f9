"""Laws of kernels that are finite sums of waves with amplitudes."""

from dataclasses import dataclass

import numpy as np

from bochner._numerics.arrays import Array
from bochner.frequencies import CosineFactors
from bochner.kernels import ModulatedWaves
from bochner.sampling import Layout, Scheme, Uniforms
from bochner.spectral.laws import Draw, Law


@dataclass(frozen=True, slots=True, eq=False)
class WaveAtoms(Law):
    r"""Finitely many waves, each a frequency with a factor of its own at either argument.

    A draw ``n`` stands for :math:`g_n(x)\, g_n(y) \cos(\omega_n \cdot (x - y))`,
    :math:`g_n(x) = \cos(v_n \cdot x / 2 + \psi_n)`. ``cumulative`` (n_atoms,) are the sums of the
    atoms' probabilities, up to one.
    """

    omega: Array
    modulation: CosineFactors
    cumulative: Array

    @property
    def dim(self) -> int:  # type: ignore[override]
        return int(self.omega.shape[1])

    @property
    def at_zero(self) -> float:
        """The mean of the squares of the factors at the origin."""
        probability = np.diff(self.cumulative, prepend=0.0)
        return float(probability @ np.cos(self.modulation.phase) ** 2)

    @property
    def is_even(self) -> bool:
        """``False``: of every pair of opposite frequencies there is one."""
        return False

    @property
    def layout(self) -> Layout:
        return (Uniforms(1),)

    def assemble(self, blocks: list[Array]) -> Array:
        return self.omega[np.searchsorted(self.cumulative, blocks[0][:, 0], side="right")]

    def draw(self, m: int, rng: np.random.Generator, scheme: Scheme) -> Draw:
        (uniforms,) = scheme.sample(self.layout, m, rng)
        atoms = np.searchsorted(self.cumulative, uniforms[:, 0], side="right")
        waves = CosineFactors(self.modulation.v[atoms], self.modulation.phase[atoms])
        return Draw(self.omega[atoms], np.ones(m), np.zeros(m), modulation=waves)


def wave_atoms(kernel: ModulatedWaves) -> tuple[float, WaveAtoms]:
    """Return the mass and the law of a finite sum of waves."""
    v = np.asarray(kernel.modulations)
    varying = v.any(axis=1)
    # Amplitudes that vary are sqrt(2) times the factors; of the others the phase says nothing.
    mass = np.asarray(kernel.weights) * np.where(varying, 2.0, 1.0)
    phase = np.where(varying, np.asarray(kernel.phases), 0.0)
    cumulative = np.cumsum(mass) / mass.sum()
    cumulative[-1] = 1.0
    law = WaveAtoms(np.asarray(kernel.frequencies), CosineFactors(v, phase), cumulative)
    return float(mass.sum()), law
