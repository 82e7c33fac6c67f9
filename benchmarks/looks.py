"""The look of every method in every picture of results."""

from collections.abc import Mapping

from bochner.plot.style import (
    BLUE,
    DARK,
    DASHES,
    GREEN,
    METHODS,
    ORANGE,
    PALE,
    SKY,
    VIOLET,
    Look,
)

_OPEN = True  # Variants of a method have its colour, dashes and hollow markers

LOOKS: Mapping[str, Look] = {
    **METHODS,
    # Tables
    "LightGBM": Look(VIOLET, "D"),
    # Features of Gaussian kernels, by sampling scheme
    "RBFSampler": Look(PALE, "X"),
    "iid": Look(ORANGE, "^"),
    "orthogonal": Look(BLUE, "o"),
    "structured": Look(GREEN, "v"),
    "energy": Look(DARK, "P"),
    "lattice": Look(SKY, "s"),
    "landmarks": Look(ORANGE, "^"),
    "landmarks and residual": Look(VIOLET, "D"),
    # Features of indefinite kernels
    "exact": Look(DARK, "P"),
    "designed": Look(BLUE, "o"),
    "designed, least squares": Look(SKY, "s"),
    "designed, iid": Look(BLUE, "o", DASHES[1], _OPEN),
    "Jordan": Look(ORANGE, "^"),
    "Jordan, iid": Look(ORANGE, "^", DASHES[1], _OPEN),
    "spherical random features": Look(GREEN, "v"),
    "random Maclaurin": Look(VIOLET, "D"),
    "tensorised projections": Look(DARK, "P"),
    "TensorSketch": Look(PALE, "X"),
    "Nyström, uniform": Look(ORANGE, "X", DASHES[2]),
    "Nyström, leverage": Look(DARK, "X", DASHES[2]),
    "Nyström, pivoted": Look(VIOLET, "X", DASHES[2]),
    # Features of asymmetric kernels
    "Jordan, iid, equal sets": Look(DARK, "P", DASHES[2], _OPEN),
    "Jordan, iid, fitted masses": Look(PALE, "X", DASHES[2]),
    "polar": Look(BLUE, "o"),
    "polar, iid": Look(BLUE, "o", DASHES[1], _OPEN),
    "polar, least squares": Look(SKY, "s"),
    "asymmetric Nyström": Look(VIOLET, "X", DASHES[2]),
    "asymmetric, Jordan, 3 M": Look(ORANGE, "^"),
    "asymmetric, polar, 3 M": Look(BLUE, "o"),
    "linear": Look(PALE, "", DASHES[2]),
    # Positive features for attention
    "FAVOR+": Look(ORANGE, "^"),
    "sampled": Look(SKY, "s"),
    "fitted": Look(BLUE, "o"),
    "uniform": Look(PALE, "", DASHES[2]),
    # Gaussian processes by their features
    "64 features": Look(ORANGE, "^"),
    "256 features": Look(BLUE, "o"),
    "1024 features": Look(VIOLET, "D"),
    "SVGP": Look(DARK, "X", DASHES[2]),
    # Learned kernels
    "BaNK": Look(BLUE, "o"),
    "GaBaSR": Look(VIOLET, "D"),
    "truth": Look(DARK, "", DASHES[1]),
    "true kernel": Look(DARK, "", DASHES[1]),
    "true spectral distribution": Look(ORANGE, "", DASHES[2]),
    "DIGMM, exact": Look(ORANGE, "^"),
    "DIGMM, taylor": Look(ORANGE, "^", DASHES[1], _OPEN),
    "DIGMM, exact, larger sketch": Look(VIOLET, "D"),
    "DIGMM, exact, least squares": Look(DARK, "P", DASHES[2]),
    "paper's DIGMM": Look(PALE, "X", DASHES[2]),
    "library best": Look(DARK, "P"),
    # Masses of the parts of complex measures
    **{
        f"{name}, {how}": look
        for name, color, marker in (
            ("real positive", BLUE, "o"),
            ("real negative", ORANGE, "^"),
            ("imaginary", VIOLET, "D"),
        )
        for how, look in (
            ("exact", Look(color, "")),
            ("fitted", Look(color, marker, DASHES[1], _OPEN)),
        )
    },
}
