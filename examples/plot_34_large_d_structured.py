"""
Thousands of inputs: structured frequencies
===========================================

With d inputs and m frequencies a feature map multiplies by a matrix of d × m numbers. Frequencies
that are held by Hadamard blocks need only O(m log d) operations, with errors as small as those of
orthogonal ones.
"""

from time import perf_counter

import matplotlib.pyplot as plt
import numpy as np

from bochner import FourierFeatures, kernels

rng = np.random.default_rng(0)
n = 500  # Rows, whose exact Gram matrix is the reference
dims = (64, 512, 2048)  # Powers of two, which Hadamard blocks need not pad
schemes = {"iid": "independent", "orthogonal": "orthogonal", "structured": "structured"}
errors = {scheme: [] for scheme in schemes}
seconds = {scheme: [] for scheme in schemes}
for dim in dims:
    X = rng.normal(size=(n, dim))
    kernel = kernels.Gaussian(float(np.sqrt(dim)))
    exact = kernel(X)
    for scheme in schemes:
        features = FourierFeatures(kernel, 4096, scheme=scheme, random_state=0).fit(X)
        features.transform(X[:5])
        start = perf_counter()
        Z = features.transform(X)
        seconds[scheme].append(perf_counter() - start)
        errors[scheme].append(np.linalg.norm(Z @ Z.T - exact) / np.linalg.norm(exact))

# %%
# Times and errors of 4,096 features by the number of inputs:
figure, axes = plt.subplots(1, 2, figsize=(7.2, 3.0))
for scheme, title in schemes.items():
    axes[0].loglog(dims, seconds[scheme], marker="o", markersize=3, label=title)
    axes[1].loglog(dims, errors[scheme], marker="o", markersize=3, label=title)
axes[0].set(xlabel="inputs", ylabel="seconds for 500 rows")
axes[1].set(xlabel="inputs", ylabel="relative error of the Gram matrix")
axes[1].legend(frameon=False)
for ax in axes:
    ax.set_xticks(dims, [str(dim) for dim in dims])
    ax.minorticks_off()
figure.tight_layout()

# %%
# ``scheme="auto"`` chooses Hadamard blocks by itself where they are faster. Their frequencies are
# never formed as an array:
print(type(features.frequencies_.omega_blocks).__name__, features.frequencies_.omega_blocks.shape)

# %%
# Next: :doc:`plot_21_sampling_schemes` and :doc:`/guide/gaussian_processes`.
