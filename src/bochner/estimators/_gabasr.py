"""What models that learn a locally stationary kernel add to those of a stationary one."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import numpy as np

from bochner._numerics.arrays import Array, as_count
from bochner.estimators._bank_settings import check_name
from bochner.learning.inference.models import LocallyStationary, Model
from bochner.learning.inference.preparation import frequency_scales

PAIRS = ("matched", "grid")

_VARYING: Mapping[str, tuple[bool, bool]] = MappingProxyType(
    {
        "learned": (True, True),
        "signal": (True, False),
        "noise": (False, True),
        "constant": (False, False),
    }
)
"""Whether amplitudes and the noise vary, by what an envelope is called."""


def locally_stationary(
    model: Any, scaled: Array, names: tuple[str, ...], *, is_paper: bool
) -> Model:
    """Return what an estimator samples, from its parameters.

    Parameters
    ----------
    model : estimator
    scaled : ndarray of shape (n, d)
        Scaled rows.
    names : tuple of str
        Envelopes that it knows.
    is_paper : bool
        Whether the model is the paper's.

    Raises
    ------
    TypeError, ValueError
        If a parameter has the wrong type, or is out of range.
    """
    check_name("pairs", model.pairs, PAIRS)
    check_name("envelope", model.envelope, names)
    n_envelope = as_count("n_envelope", model.n_envelope)
    in_grid = model.pairs == "grid" or is_paper
    if in_grid and n_envelope > model.n_frequencies:
        raise ValueError(
            f"pairs='grid', and the paper's sampler, combine every frequency with every amplitude: "
            f"n_envelope must be at most n_frequencies={model.n_frequencies}, the number of "
            f"combinations, got {n_envelope}."
        )
    signal, noise = _VARYING[model.envelope]
    # Constant amplitudes are all one: no frequency needs to be there twice.
    is_shared = signal and in_grid
    scale = frequency_scales(scaled, np.random.default_rng(0))
    return LocallyStationary(
        tuple(scale.tolist()),
        n_envelope if is_shared else 0,
        signal=signal,
        noise=noise,
        is_paper=is_paper,
    )
