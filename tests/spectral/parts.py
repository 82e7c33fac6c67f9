"""Frequencies of which every part matters: phases, signs, both kinds of factors, blocks."""

import numpy as np

from bochner import Frequencies
from bochner.spectral import CosineFactors, Envelope
from bochner.spectral.feature_factors import Amplitudes, FactorProduct
from bochner.spectral.hadamard import HadamardRows

M, DIM = 6, 3
RNG = np.random.default_rng(0)
OMEGA, NU = RNG.normal(size=(2, M, DIM))
WEIGHT, PHASE = RNG.normal(size=(2, M))
RADIUS = np.where(np.arange(M) % 3 == 0, 0.0, RNG.uniform(1.0, 2.0, size=M))
RATE = np.full(M, 0.3)
BLOCKS = HadamardRows(RNG.choice([-1, 1], size=(2, 3, 4)), RNG.normal(size=M), np.ones(DIM))
WAVES = CosineFactors(NU, RNG.normal(size=M))

AMPLITUDES = Amplitudes(
    np.arange(len(OMEGA)) % 2,
    RNG.normal(size=(2, 3, 2)),
    RNG.normal(size=(2, 2)),
    RNG.normal(size=(2, 4, 3)),
    RNG.normal(size=(2, 4)),
    RNG.uniform(-3.0, 3.0, size=(2, 4)),
)
PARTS = {
    "phases": Frequencies(OMEGA, WEIGHT, PHASE),
    "two arguments": Frequencies(OMEGA, WEIGHT, PHASE, NU[:, :2]),
    "envelope": Frequencies(OMEGA, WEIGHT, factor=Envelope(RATE, RADIUS)),
    "mapped envelope": Frequencies(
        OMEGA, WEIGHT, PHASE, NU, Envelope(RATE, RADIUS, *RNG.normal(size=(2, DIM, 2)))
    ),
    "amplitudes": Frequencies(OMEGA, WEIGHT, factor=AMPLITUDES),
    "modulation": Frequencies(OMEGA, WEIGHT, factor=WAVES),
    "both factors": Frequencies(
        OMEGA, WEIGHT, PHASE, None, FactorProduct(Envelope(RATE, RADIUS), WAVES)
    ),
    "blocks": Frequencies(BLOCKS, WEIGHT, PHASE),
}
