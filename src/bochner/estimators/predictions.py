"""Predictions of linear heads for rows on a device, made there."""

from dataclasses import replace
from typing import Any

from bochner._numerics import limits
from bochner._numerics.arrays import row_blocks
from bochner._numerics.namespaces import like, namespace, widened
from bochner.frequencies import Frequencies
from bochner.learning.iterative import IterativeSolution
from bochner.learning.krein import KreinSolution
from bochner.learning.ridge import RidgePosterior


def device_predictions(
    frequencies: Frequencies,
    posterior: RidgePosterior | KreinSolution | IterativeSolution,
    X: Any,
    *,
    with_std: bool,
) -> tuple[Any, Any]:
    """Return means and, if asked for, standard deviations, both of shape (n, t).

    They are in float64, or in float32 where the device has no more.

    Parameters
    ----------
    frequencies : Frequencies
    posterior : RidgePosterior, KreinSolution or IterativeSolution
        What of it predictions need is brought to the device once: for means the weights, for
        standard deviations a matrix of shape (p, p), too.
    X : array of shape (n, d)
        Of another namespace than NumPy's.
    with_std : bool
    """
    wide = widened(X[:0, :])
    features, moved = frequencies.to_device_of(X), _moved(posterior, wide, with_std)
    means, stds = [], []
    row_bytes = 16 * frequencies.n_frequencies
    for rows in row_blocks(X.shape[0], row_bytes, block_bytes=limits.DEVICE_BLOCK_BYTES):
        Z = features.features(X[rows, :], wide.dtype)
        means.append(moved.mean(Z))
        if with_std:
            stds.append(moved.std(Z))
    concat = namespace(X).concat
    return concat(means, axis=0), concat(stds, axis=0) if with_std else None


def _moved(posterior: Any, X: Any, with_std: bool) -> Any:
    names = ["coef", "intercept"]
    if with_std and isinstance(posterior, RidgePosterior):
        names += ["whitener", "noise_variance", "centre"]
    return replace(posterior, **{name: like(getattr(posterior, name), X) for name in names})
