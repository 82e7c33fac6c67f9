"""
Sums, products and scales of kernels
====================================

Kernels are values that can be added, subtracted, multiplied and scaled, and every result has
features. What a kernel says is best seen in functions drawn from it.
"""

import matplotlib.pyplot as plt
import numpy as np

from bochner import FourierFeatures, kernels

smooth = kernels.Gaussian(1.0)
rough = kernels.Matern(1.0, nu=0.5)
wave = kernels.SpectralMixture([1.0], [[2 * np.pi]], [0.01])
combined = {
    "smooth": smooth,
    "smooth + rough": kernels.Gaussian(2.0) + (1 / 9) * rough,
    "smooth + wave": smooth + 0.25 * wave,
    "smooth × wave": smooth * wave,
}

# %%
# A draw is a sum of features with independent normal weights.
x = np.linspace(0, 5, 500)[:, None]
rng = np.random.default_rng(1)
figure, axes = plt.subplots(2, 2, figsize=(3.6, 2.6), sharex=True, sharey=True)
for ax, (name, kernel) in zip(axes.ravel(), combined.items(), strict=True):
    Z = FourierFeatures(kernel, 2000, random_state=0).fit(x).transform(x)
    ax.plot(x[:, 0], Z @ rng.normal(size=(2000, 3)), linewidth=1)
    ax.set(title=name, xticks=[], yticks=[])

# %%
# Differences need not be positive definite, and then their features have signs:
contrast = smooth - 0.5 * kernels.Gaussian(2.0)
features = FourierFeatures(contrast, 1000, random_state=0).fit(x)
print("negative features:", int(np.sum(features.signature_ < 0)), "of", features.signature_.size)
print(f"largest error {np.abs(features.gram(x[::10]) - contrast(x[::10])).max():.3f}")

# %%
# A kernel is printed as the expression that makes it:
print(combined["smooth + wave"])

# %%
# Next: :doc:`/guide/which_kernel` and :mod:`bochner.kernels`.
