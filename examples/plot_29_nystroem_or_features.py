"""
Nyström or random features?
===========================

Both turn a kernel into columns. Nyström features come from training rows, random features from the
kernel's spectral measure. Nyström needs fewer columns where the eigenvalues of the Gram matrix fall
quickly; random features are cheaper by column and do not depend on the rows.
"""

from time import perf_counter

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.kernel_approximation import Nystroem

from bochner import FourierFeatures, kernels

# %%
# Images lie near few directions, and a long length scale makes the kernel smooth: the eigenvalues
# fall quickly. For independent inputs and a shorter length scale they fall slowly.
rng = np.random.default_rng(0)
cases = {
    "digits, smooth": (load_digits().data[:1500] / 16, kernels.Gaussian(4.0)),
    "independent inputs": (rng.uniform(-1, 1, size=(1500, 12)), kernels.Gaussian(1.5)),
}
counts = 2 ** np.arange(5, 11)


def error(Z, exact):
    """Return the relative error of the Gram matrix of features."""
    return np.linalg.norm(Z @ Z.T - exact) / np.linalg.norm(exact)


def timed(transform, X):
    """Return the least seconds of three calls."""
    best = np.inf
    for _ in range(3):
        start = perf_counter()
        transform(X)
        best = min(best, perf_counter() - start)
    return best


figure, axes = plt.subplots(2, 2, figsize=(7.2, 5.4))
for (top, bottom), (name, (X, kernel)) in zip(axes.T, cases.items(), strict=True):
    exact = kernel(X)
    many = np.tile(X, (6, 1))
    found = {"FourierFeatures": [], "Nystroem": []}
    for count in counts:
        maps = {
            "FourierFeatures": FourierFeatures(kernel, int(count), random_state=0),
            "Nystroem": Nystroem(
                gamma=0.5 / kernel.length_scale**2, n_components=int(count), random_state=0
            ),
        }
        for method, features in maps.items():
            Z = features.fit(X).transform(X)
            found[method].append((error(Z, exact), timed(features.transform, many)))
    for method, pairs in found.items():
        errors, seconds = zip(*pairs, strict=True)
        top.loglog(counts, errors, marker="o", markersize=3, label=method)
        bottom.loglog(seconds, errors, marker="o", markersize=3, label=method)
        print(f"{name:>18}, {method:>15}: {errors[3]:.4f} with {counts[3]} columns")
    top.set(title=name, xlabel="columns")
    bottom.set(xlabel="seconds for 9,000 rows")
for ax in axes[:, 0]:
    ax.set_ylabel("relative error")
axes[0, 0].legend(frameon=False)
figure.tight_layout()

# %%
# For as many columns, Nyström's errors are smaller on these rows: its columns are made for them. A
# row costs :math:`O(m d + m^2)` with :math:`m` Nyström features and :math:`O(m d)` with random
# ones, so that for many columns and slowly falling eigenvalues the errors by time are alike.
#
# Use Nyström for smooth kernels and for any function of two items. Use random features where rows
# arrive in a stream, where functions are drawn from the model, where the kernel is learned, and
# where columns must not depend on the data.
#
# Next: :doc:`plot_28_string_similarity`, :class:`bochner.baselines.KreinNystroem` and
# :doc:`/guide/which_kernel`.
