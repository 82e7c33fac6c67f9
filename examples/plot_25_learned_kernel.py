"""
A kernel learned from the data
==============================

Which kernel fits a problem is rarely known. :class:`bochner.LearnedKernelRegressor` samples the
frequencies of its features from their posterior: periods, length scales, the inputs that matter and
the noise are learned together.
"""

import matplotlib.pyplot as plt
import numpy as np

from bochner import KreinRidge, LearnedKernelRegressor, kernels, plot
from bochner.learned import Chains

# %%
# A function drawn with a known kernel: a slow part, and a wave of period 0.5 whose shape drifts.
truth = kernels.SpectralMixture([0.7, 0.3], [[0.0], [4 * np.pi]], [4.0, 0.5])
rng = np.random.default_rng(0)
t = rng.uniform(0, 6, size=(600, 1))
y = rng.multivariate_normal(np.zeros(600), truth(t) + 0.1**2 * np.eye(600))
# The gap is longer than the period of the wave, 0.5
train = (t[:, 0] < 3.5) | (t[:, 0] > 4.2)
model = LearnedKernelRegressor(
    60, random_state=0, chains=Chains(n_burn_in=50, n_samples=40, n_chains=2)
)
model.fit(t[train], y[train])
fixed = KreinRidge(
    "gaussian", alpha="evidence", length_scale="evidence", fit_intercept=True, random_state=0
).fit(t[train], y[train])

# %%
# The learned kernel has the wave, and so predicts across a gap as long as its period. Orange points
# are held out.
grid = np.linspace(0, 6, 500)[:, None]
figure, axes = plt.subplots(2, 1, figsize=(3.6, 3.4), sharex=True, sharey=True)
for ax, (name, own) in zip(
    axes, {"Gaussian kernel": fixed, "learned kernel": model}.items(), strict=True
):
    mean, std = own.predict(grid, return_std=True)
    ax.fill_between(grid[:, 0], mean - 1.645 * std, mean + 1.645 * std, alpha=0.25, linewidth=0)
    ax.plot(grid[:, 0], mean)
    ax.plot(t[train, 0], y[train], ".", color="0.25", markersize=2)
    ax.plot(t[~train, 0], y[~train], ".", color="C1", markersize=4)
    ax.set_title(name)
    error = np.sqrt(np.mean((own.predict(t[~train]) - y[~train]) ** 2))
    print(f"{name}: RMSE in the gap {error:.2f}")

# %%
# The learned kernel with its posterior band, and the true one, both relative to their value at
# zero:
figure, ax = plt.subplots(figsize=(3.6, 2.5))
plot.kernel(model, extent=2.0, ax=ax)
lag = np.linspace(0, 2, 200)[:, None]
ax.plot(lag[:, 0], truth(lag, [[0.0]])[:, 0], "--", color="C1", label="truth")
ax.legend()

# %%
# Its spectrum has a peak at the period of the wave:
plot.spectrum(model)

# %%
# With several inputs, the model also learns which of them matter. Here three of six do: a wave
# along *a*, and a product of *b* and *c*.
rng = np.random.default_rng(0)
X = rng.uniform(-1, 1, size=(400, 6))
# The wave has a variance of 1/2 and the product one of 4/9
z = np.sin(np.pi * X[:, 0]) + 2 * X[:, 1] * X[:, 2] + 0.2 * rng.normal(size=400)
several = LearnedKernelRegressor(
    50, structure="sparse", random_state=0, chains=Chains(n_burn_in=30, n_samples=20, n_chains=2)
).fit(X, z)
names = list("abcdef")
figure, axes = plt.subplots(1, 2, figsize=(7.2, 2.8))
plot.relevance(several, names=names, ax=axes[0])
plot.interactions(several, names=names, most=5, ax=axes[1])

# %%
# Source: Oliva, Dubey, Wilson, Póczos, Schneider and Xing, "Bayesian nonparametric
# kernel-learning", 2016 (BaNK). Next: :doc:`/guide/learned`.
