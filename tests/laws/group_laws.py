"""How far a mixture of Gaussians over groups of frequencies may be from the frequencies."""

import numpy as np


def groups(omega):
    """Return rows by the inputs they act on and the octave of their length."""
    found = {}
    for row in omega:
        length = np.sqrt(np.sum(row**2))
        octave = 0 if length == 0 else int(np.floor(np.log2(length)))
        found.setdefault((tuple(row != 0), octave), []).append(row)
    return [np.array(rows) for rows in found.values()]


def kernel_bound(omega, lag):
    r"""Return how much the mean of ``cos(lag @ omega.T)`` may change by Gaussians for groups.

    For a group that is replaced by a centred Gaussian of the same second moments,
    ``|E cos t - exp(-E t^2/2)| <= max(E t^4/24, (E t^2)^2/8)``; about a mean,
    ``|E exp(is) - exp(-E s^2/2)| <= E|s|^3/6 + (E s^2)^2/8``. The greater bounds both.
    """
    bound = np.zeros(len(lag))
    for rows in groups(omega):
        t = lag @ rows.T
        centred = np.maximum((t**4).mean(axis=1) / 24.0, (t**2).mean(axis=1) ** 2 / 8.0)
        direction = np.linalg.eigh(rows.T @ rows)[1][:, -1]
        turned = t * np.where(rows @ direction < 0, -1.0, 1.0)
        s = turned - turned.mean(axis=1, keepdims=True)
        about = (np.abs(s) ** 3).mean(axis=1) / 6.0 + (s**2).mean(axis=1) ** 2 / 8.0
        bound += len(rows) / len(omega) * np.maximum(centred, about).clip(max=2.0)
    return bound
