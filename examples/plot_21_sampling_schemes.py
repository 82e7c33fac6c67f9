"""
Which frequencies: independent, orthogonal, quasi-random or of least energy
===========================================================================

The frequencies of random features need not be independent. Frequencies that are spread out evenly
give smaller errors with as many features, at the same cost.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import scale

from bochner import FourierFeatures, kernels

# %%
# 64 frequencies of a Gaussian kernel on two inputs, by scheme. Independent ones leave gaps and form
# clusters. Those of least energy repel each other; they are the default in at most 64 inputs.
X = scale(load_breast_cancer().data)[:, [0, 1, 4, 8, 9]]
schemes = {"iid": "independent", "orthogonal": "orthogonal blocks", "qmc": "quasi-Monte Carlo"}
schemes["energy"] = "least energy"
figure, axes = plt.subplots(1, 4, figsize=(9.6, 2.6), sharex=True, sharey=True)
for ax, (scheme, title) in zip(axes, schemes.items(), strict=True):
    features = FourierFeatures(kernels.Gaussian(1.0), 128, scheme=scheme, random_state=0)
    omega = features.fit(X[:, :2]).frequencies_.omega
    ax.plot(*omega.T, ".", markersize=4)
    ax.set(title=title, xlim=(-4, 4), ylim=(-4, 4), aspect="equal")
figure.tight_layout()

# %%
# Error of the Gram matrix on five inputs, the root mean square of 20 seeds:
kernel = kernels.Gaussian(3.0)
exact = kernel(X[:300])
counts = 2 ** np.arange(4, 11)
figure, ax = plt.subplots(figsize=(5.2, 3.4))
for scheme, title in schemes.items():
    errors = []
    for count in counts:
        maps = (
            FourierFeatures(kernel, int(count), scheme=scheme, random_state=s) for s in range(20)
        )
        squares = [np.mean((map.fit(X).gram(X[:300]) - exact) ** 2) for map in maps]
        errors.append(np.sqrt(np.mean(squares)))
    ax.loglog(counts, errors, marker="o", markersize=3, label=title)
    print(f"{title:>18}: {errors[-1]:.5f} with {counts[-1]} features")
ax.set(xlabel="number of features", ylabel="error of the Gram matrix")
ax.legend(frameon=False)

# %%
# Next: :doc:`plot_34_large_d_structured` has thousands of inputs; :doc:`/mathematics/notation`
# defines the schemes.
