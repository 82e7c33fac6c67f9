"""
Only similarities are known: a kernel without a formula
=======================================================

Judges, an assay or a slow program give the similarities of 150 items, and 10,000 others have none.
:class:`bochner.SimilarityFeatures` learns a kernel that explains the known similarities, and has
features for all items.
"""

import matplotlib.pyplot as plt
import numpy as np

from bochner import SimilarityFeatures, kernels

# %%
# The unknown similarity is positive for near items and negative for those at a medium distance.
# Judgements have errors.
unknown = kernels.Gaussian(0.6) - 0.4 * kernels.Gaussian(0.2)
rng = np.random.default_rng(0)
items = rng.uniform(size=(10_000, 3))
judged = items[:150]
judgements = unknown(judged) + 0.02 * rng.normal(size=(150, 150))
similarity = 0.5 * (judgements + judgements.T)
features = SimilarityFeatures("precomputed", 512, n_sketch=150, random_state=0)
features.fit(judged, similarity=similarity)
print(f"noise of the judgements: {features.noise_:.3f} learned, {0.02 / np.sqrt(2):.3f} in truth")

# %%
# All other items have features now, and the learned kernel is close to the unknown one:
Z = features.transform(items)
print("features of all items:", Z.shape)
others = items[1000:1300]
error = np.sqrt(np.mean((features.kernel_(others) - unknown(others)) ** 2))
print(f"root mean square error of the learned kernel {error:.4f}")

distance = np.linspace(0, 1.5, 200)
line = np.c_[distance, np.zeros((200, 2))]
figure, axes = plt.subplots(1, 2, figsize=(7.2, 3.0))
apart = np.linalg.norm(judged[:, None] - judged[None], axis=2)
axes[0].plot(
    apart[np.triu_indices(150, 1)], similarity[np.triu_indices(150, 1)], ".", color="0.75", ms=1
)
axes[0].plot(distance, unknown(line, line[:1])[:, 0], label="unknown kernel")
axes[0].plot(distance, features.kernel_(line, line[:1])[:, 0], "--", label="learned kernel")
axes[0].set(xlabel="distance", ylabel="similarity")
axes[0].legend(frameon=False)
axes[1].plot(unknown(others).ravel()[::20], features.gram(others).ravel()[::20], ".", markersize=2)
axes[1].plot([0, 0.6], [0, 0.6], color="0.2", linewidth=0.8)
axes[1].set(xlabel="unknown kernel", ylabel="512 features, items not judged")
figure.tight_layout()

# %%
# Source: Liu, Huang, Shi, Yang and Suykens, "A double-variational Bayesian framework in random
# Fourier features for indefinite kernels", 2020. Next: :doc:`/guide/similarities`.
