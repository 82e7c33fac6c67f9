r"""
Attention as a kernel: queries and keys
=======================================

Attention weighs keys by :math:`\exp(q^\top k)`, where query and key are different linear maps of
their tokens. That is an asymmetric kernel: what the first is to the second, the second is not to
the first. Features for both sides replace the matrix of all pairs by two thin ones.
"""

import matplotlib.pyplot as plt
import numpy as np

from bochner import FourierFeatures, kernels

rng = np.random.default_rng(0)
n, width, head = 600, 16, 4  # Tokens, their entries, and those of a query or key
tokens = rng.normal(size=(n, width))
to_query, to_key = rng.normal(size=(2, width, head)) / np.sqrt(width)
attention = kernels.Bilinear(kernels.DotProduct(np.exp), 0.5 * to_query, 0.5 * to_key)
print("symmetric:", attention.is_symmetric)

# %%
# ``transform`` returns the features of queries, ``transform_right`` those of keys. Their weights
# are fitted to exact values of some pairs.
features = FourierFeatures(attention, 512, weights="least_squares", random_state=0)
features.fit(tokens, right=tokens)
queries, keys = features.transform(tokens), features.transform_right(tokens)
exact = attention(tokens)
estimate = (queries * features.signature_) @ keys.T
print(f"relative error {np.linalg.norm(estimate - exact) / np.linalg.norm(exact):.3f}")

# %%
# Attention averages values with these weights. With features, keys and values are multiplied first,
# so the cost is linear in the number of tokens:
values = np.cumsum(rng.normal(size=(n, 3)), axis=0) / 10
softmax = exact @ values / exact.sum(axis=1, keepdims=True)
signed = queries * features.signature_
linear = signed @ (keys.T @ values) / (signed @ keys.sum(axis=0))[:, None]
print(f"error of the averages {np.sqrt(np.mean((linear - softmax) ** 2)) / softmax.std():.3f}")

figure, axes = plt.subplots(1, 3, figsize=(7.2, 2.7))
for ax, matrix, title in zip(axes[:2], (exact, estimate), ("exact", "512 features"), strict=True):
    ax.imshow(matrix[:60, :60], vmin=0, vmax=3, cmap="Blues")
    ax.set(title=title, xlabel="key", xticks=[], yticks=[])
axes[0].set_ylabel("query")
axes[2].plot(softmax, linear, ".", markersize=2)
axes[2].plot([softmax.min(), softmax.max()], [softmax.min(), softmax.max()], color="0.2", lw=0.8)
axes[2].set(xlabel="exact average", ylabel="by features")
figure.tight_layout()

# %%
# Source of the features of both sides: He, He, Liu and Huang, "Random Fourier features for
# asymmetric kernels", 2022. Next: :doc:`plot_24_directed_edges` and :doc:`/guide/directed`.
