r"""
Attention with positive features
================================

Attention averages values with weights :math:`e^{\langle q, k \rangle / T}` that sum to one over the
keys. Positive features replace the matrix of all queries and keys, so that time and memory are
linear in their numbers. Here queries are handwritten digits, and keys other digits with known
labels: attention is a classifier.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from bochner import PositiveFeatures
from bochner.plot import styled

X, y = load_digits(return_X_y=True)
X = X - X.mean(axis=0)
keys, queries, labels, true = train_test_split(X, y, test_size=0.4, random_state=0)
values = np.eye(10)[labels]
temperature = 2.0 * float((queries @ keys.T).std())


def exact_weights(queries, keys):
    """Return attention weights (n, n2), whose rows sum to one."""
    logits = queries @ keys.T / temperature
    weights = np.exp(logits - logits.max(axis=1, keepdims=True))
    return weights / weights.sum(axis=1, keepdims=True)


# %%
# Fit the features to some of the keys, as queries and as keys, and attend to all of them.
features = PositiveFeatures(256, temperature=temperature, random_state=0)
features.fit(keys[:500], right=keys[500:])
shares = features.attention(queries, keys, values)
exact = exact_weights(queries, keys) @ values
print(f"relative error of weights on rows held out: {features.fit_error_:.3f}")
print(f"digits found: exact {(exact.argmax(axis=1) == true).mean():.3f}, "
      f"features {(shares.argmax(axis=1) == true).mean():.3f}")  # fmt: skip

# %%
# The same error for more features. Weights that are sampled make an unbiased estimate of the
# kernel, fitted ones have a lower error.
counts = (16, 32, 64, 128)
errors = {}
weights = exact_weights(queries, keys)
for kind in ("sampled", "least_squares"):
    for count in counts:
        found = []
        for seed in range(3):
            model = PositiveFeatures(
                count, temperature=temperature, weights=kind, random_state=seed
            ).fit(keys[:500], right=keys[500:])
            estimate = model.attention(queries, keys, np.eye(len(keys)))
            found.append(np.linalg.norm(estimate - weights) / np.linalg.norm(weights))
        errors[kind, count] = np.median(found)

# %%
# The left panels show weights of 40 queries and 40 keys, sorted by their digits.
order, column = (np.argsort(some[:40], kind="stable") for some in (true, labels))
estimate = features.attention(queries[:40], keys, np.eye(len(keys)))
with styled():
    figure, axes = plt.subplots(1, 3, figsize=(7.2, 2.7))
    for ax, matrix, title in zip(
        axes, (weights[:40], estimate), ("exact", "256 features"), strict=False
    ):
        ax.imshow(matrix[order][:, column], vmin=0.0, vmax=4.0 / len(keys), cmap="Blues")
        ax.set(title=title, xlabel="key", xticks=[], yticks=[])
    axes[0].set_ylabel("query")
    for kind in ("sampled", "least_squares"):
        axes[2].plot(counts, [errors[kind, count] for count in counts], "o-", label=kind)
    axes[2].set(xlabel="features", ylabel="relative error", xscale="log", ylim=(0.0, None))
    axes[2].set_xticks(counts, [str(count) for count in counts])
    axes[2].minorticks_off()
    axes[2].legend()
    figure.tight_layout()

# %%
# Next: :doc:`/guide/torch` for a module in torch, :doc:`plot_23_query_key_kernel`,
# :doc:`/mathematics/positive` and
# :class:`bochner.PositiveFeatures`.
