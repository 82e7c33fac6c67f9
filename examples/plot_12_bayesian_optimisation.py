"""
Bayesian optimisation with sampled functions
============================================

Find the maximum of an expensive function with few evaluations. A random draw of a Gaussian process
on features is one function, with a value everywhere: evaluate the target where the draw is largest
(Thompson sampling).
"""

import matplotlib.pyplot as plt
import numpy as np

from bochner import FourierFeatures, kernels


def expensive(X):
    """Return the target, of which every value is assumed to cost an hour."""
    return np.sin(3 * X[:, 0]) * np.cos(2 * X[:, 1]) + 0.3 * X[:, 0] - 0.1 * (X**2).sum(axis=1)


rng = np.random.default_rng(0)
candidates = rng.uniform(-2, 2, size=(20_000, 2))
features = FourierFeatures(kernels.Matern(1.0, nu=2.5), 800, random_state=0).fit(candidates)
Z = features.transform(candidates)

# %%
# With features, a Gaussian process is a linear model w·z(x) with weights N(0, 1). Given
# evaluations, the weights are normal with a precision matrix of 800 by 800, and a draw of them
# costs nothing next to the target.
NOISE = 1e-4


def drawn_function(seen, values):
    """Return the values of a posterior draw at all candidates."""
    precision = np.eye(Z.shape[1]) + Z[seen].T @ Z[seen] / NOISE
    factor = np.linalg.cholesky(precision)
    mean = np.linalg.solve(precision, Z[seen].T @ values / NOISE)
    return Z @ (mean + np.linalg.solve(factor.T, rng.normal(size=Z.shape[1])))


seen = list(rng.integers(len(candidates), size=3))
for _ in range(32):
    draw = drawn_function(seen, expensive(candidates[seen]))
    seen.append(int(draw.argmax()))

best = np.maximum.accumulate(expensive(candidates[seen]))
optimum = expensive(candidates).max()
print(f"best of {len(seen)} evaluations: {best[-1]:.4f}; maximum {optimum:.4f}")

# %%
# Evaluations gather around the maximum. Random search needs thousands for the same.
searches = [np.maximum.accumulate(expensive(rng.permutation(candidates)[:35])) for _ in range(50)]
figure, axes = plt.subplots(1, 2, figsize=(7.2, 3.2))
axis = np.linspace(-2, 2, 120)
grid = np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)
axes[0].contourf(axis, axis, expensive(grid).reshape(120, 120), levels=20, cmap="Blues")
axes[0].scatter(*candidates[seen].T, c=np.arange(len(seen)), cmap="autumn_r", s=14, edgecolor="k")
axes[0].set(title="evaluations, later ones darker", xlabel="$x_1$", ylabel="$x_2$")
axes[1].plot(optimum - best, label="sampled functions")
axes[1].plot(optimum - np.mean(searches, axis=0), label="random search, mean of 50")
axes[1].set(yscale="log", title="distance to the maximum", xlabel="evaluations")
axes[1].legend(frameon=False)
figure.tight_layout()

# %%
# Next: :doc:`/guide/gaussian_processes`. :meth:`bochner.BaNKRegressor.sample_y` draws functions of
# a learned kernel.
