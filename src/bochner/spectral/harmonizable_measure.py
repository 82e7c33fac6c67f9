"""Spectral measure of harmonizable mixtures: laws of frequencies of waves with an amplitude."""

from dataclasses import dataclass, replace

import numpy as np

from bochner import kernels
from bochner._base.arrays import Array, as_array
from bochner._base.registry import register
from bochner.spectral.amplitudes import Amplitudes
from bochner.spectral.lattice_measure import Lattice
from bochner.spectral.laws import Draw, Elliptical, Law
from bochner.spectral.layouts import Scheme
from bochner.spectral.measure import Part, SpectralMeasure
from bochner.spectral.radial import Chi


@dataclass(frozen=True, slots=True, eq=False)
class WithAmplitude(Law):
    r"""A law of frequencies ``s`` whose waves have one amplitude, :math:`a(x) \cos(s \cdot x)`.

    Its kernel is :math:`a(x)\, a(y)\, E \cos(s \cdot (x - y))`. A complex amplitude makes two such
    kernels, of its real and its imaginary part, if the law is even.

    Parameters
    ----------
    law : Law
    amplitude_of : Amplitudes
        One function, of one frequency.
    """

    law: Law
    amplitude_of: Amplitudes

    @property
    def dim(self) -> int:  # type: ignore[override]
        return self.law.dim

    @property
    def members(self) -> tuple[Law, ...]:
        return (self.law,)

    @property
    def at_zero(self) -> float:
        value = float(self.amplitude_of.factors(np.zeros((1, self.dim)))[0, 0])
        return self.law.at_zero * value**2

    @property
    def amplitude(self) -> float:
        return self.law.amplitude * float(np.abs(self.amplitude_of.coef).sum()) ** 2

    @property
    def n_atoms(self) -> int | None:
        return self.law.n_atoms

    def draw(self, m: int, rng: np.random.Generator, scheme: Scheme) -> Draw:
        return replace(
            self.law.draw(m, rng, scheme),
            modulation=self.amplitude_of.rearranged(np.zeros(m, dtype=np.intp)),
        )

    def mapped(self, left: Array, right: Array) -> Law | None:
        if not np.array_equal(left, right):
            return None
        inner = self.law.mapped(left, right)
        # Laws of class BlockLaw do not define maps.
        return inner and WithAmplitude(inner, self.amplitude_of.mapped(left))


def harmonizable(kernel: kernels.Harmonizable, dim: int) -> SpectralMeasure:
    """Return the measure of a mixture: one positive part for each real amplitude."""
    kernel.check_dim(dim)
    parts: list[Part] = []
    every = zip(
        *map(as_array, (kernel.factors, kernel.phases, kernel.frequencies)),
        *map(as_array, (kernel.centres, kernel.inverse_widths, kernel.spreads)),
        strict=True,
    )
    for factors, phases, mu, centre, inverse, spread in every:
        window = np.diag(inverse)[None], (centre * inverse)[None]
        if len(mu) == 1:
            # One frequency is the mean of the law, and its phase does not matter.
            law, total = _law(mu[0], spread), float(np.sum(factors**2))
            coef_of_one = np.ones((1, 1))
            made = Amplitudes(
                np.zeros(1), *window, np.zeros((1, 1, dim)), coef_of_one, 0.0 * coef_of_one
            )
            parts += [Part(total, WithAmplitude(law, made))] if total else []
            continue
        law = _law(np.zeros(dim), spread)
        for column, phase in zip(factors, phases - mu @ centre, strict=True):
            # The real part, and the imaginary one: a quarter turn later.
            for turn in (0.0, -0.5 * np.pi):
                total = float(np.sum(column**2))
                if not total:
                    continue
                coef = column[None] / np.sqrt(total)
                made = Amplitudes(np.zeros(1), *window, mu[None], coef, (phase + turn)[None])
                parts.append(Part(total, WithAmplitude(law, made)))
    return SpectralMeasure(tuple(parts))


def _law(mean: Array, spread: Array) -> Law:
    """Return a Gaussian law of given deviations, of one atom if these are all zero."""
    if not spread.any():
        return Lattice(mean[None], np.ones(1), np.zeros(1))
    factor = tuple(map(tuple, np.diag(spread).tolist()))
    return Elliptical(Chi(), tuple(mean.tolist()), factor)


register(kernels.Harmonizable, closed_form=harmonizable)
