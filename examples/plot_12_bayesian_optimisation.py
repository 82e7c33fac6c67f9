"""
Bayesian optimisation with sampled functions
============================================

Find the minimum of an expensive function with few evaluations. A draw of a Gaussian process is one
function, with a value and a gradient everywhere: evaluate the target where the draw is least
(Thompson sampling).
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy.optimize import minimize

from bochner import KreinRidge


def branin(X):
    """Return the target on the unit square, of which every value is assumed to cost an hour."""
    x, y = 15 * X[:, 0] - 5, 15 * X[:, 1]
    bowl = y - 5.1 * x**2 / (4 * np.pi**2) + 5 * x / np.pi - 6
    return bowl**2 + 10 * (1 - 1 / (8 * np.pi)) * np.cos(x) + 10


# %%
# A draw is minimised from the best of random points, with its gradients:


def lowest_point(function, rng):
    """Return the row (1, 2) of the unit square where a drawn function is least."""
    candidates = rng.random((1000, 2))
    start = candidates[np.argmin(function(candidates))]
    found = minimize(
        lambda x: (function([x])[0], function.gradient([x])[0]),
        start,
        jac=True,
        bounds=[(0, 1), (0, 1)],
    )
    return found.x[None]


# %%
# After every evaluation the model is fitted again, with length scale and noise by evidence.
# ``residual`` makes the kernel exact at the evaluations, so that draws keep the variance of the
# prior where nothing was evaluated.
rng = np.random.default_rng(0)
X = rng.random((6, 2))
for _ in range(24):
    y = branin(X)
    model = KreinRidge(
        "matern52",
        200,
        alpha="evidence",
        length_scale="evidence",
        residual=len(X),
        fit_intercept=True,
        random_state=0,
    ).fit(X, (y - y.mean()) / y.std())
    function = model.sample_functions(1, random_state=len(X))[0]
    X = np.vstack([X, lowest_point(function, rng)])

MINIMUM = 0.397887  # At three places, as printed in the literature
best = np.minimum.accumulate(branin(X))
print(f"best of {len(X)} evaluations: {best[-1]:.4f}; minimum {MINIMUM:.4f}")

# %%
# Evaluations gather around a minimum; later ones are redder.
figure, ax = plt.subplots(figsize=(3.6, 2.9))
axis = np.linspace(0, 1, 120)
grid = np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)
levels = np.geomspace(0.39, 310, 16)
ax.contourf(axis, axis, branin(grid).reshape(120, 120), levels=levels, cmap="Blues_r")
ax.scatter(*X.T, c=np.arange(len(X)), cmap="autumn_r", s=40, edgecolor="k", linewidth=0.6)
ax.set(xlabel="first input", ylabel="second input", xticks=[0, 0.5, 1], yticks=[0, 0.5, 1])

# %%
# The distance to the minimum. Random search needs thousands of evaluations for the same.
searches = [np.minimum.accumulate(branin(rng.random((len(X), 2)))) for _ in range(200)]
figure, ax = plt.subplots(figsize=(3.6, 2.5))
ax.plot(best - MINIMUM, label="sampled functions")
ax.plot(np.mean(searches, axis=0) - MINIMUM, label="random search, mean of 200")
ax.set(yscale="log", ylabel="distance to the minimum", xlabel="evaluations")
ax.legend()

# %%
# Next: :doc:`/guide/gaussian_processes`. Learned kernels and models of tables have
# ``sample_functions``, too.
