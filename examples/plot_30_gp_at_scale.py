"""
A Gaussian process at linear cost
=================================

An exact Gaussian process takes time cubic in the rows. With random features the same posterior mean
and standard deviation cost linear time. Noise and length scale maximise the marginal likelihood in
both.
"""

from time import perf_counter

import matplotlib.pyplot as plt
import numpy as np
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, WhiteKernel

from bochner import KreinRidge

# sphinx_gallery_thumbnail_number = 2
rng = np.random.default_rng(0)


def sampled(n):
    """Return rows (n, 2) and noisy values of a smooth function."""
    X = rng.uniform(-3, 3, size=(n, 2))
    return X, np.sin(2 * X[:, 0]) * np.cos(X[:, 1]) + 0.2 * rng.normal(size=n)


# %%
# On 500 rows both give the same predictions and intervals:
X, y = sampled(500)
exact = GaussianProcessRegressor(RBF() + WhiteKernel(), normalize_y=True).fit(X, y)
linear = KreinRidge(
    "gaussian", 512, alpha="evidence", length_scale="evidence", fit_intercept=True, random_state=0
).fit(X, y)
line = np.c_[np.linspace(-5, 5, 200), np.zeros(200)]
figure, axes = plt.subplots(1, 2, figsize=(7.2, 2.8), sharey=True)
for ax, (name, model) in zip(axes, {"exact": exact, "512 features": linear}.items(), strict=True):
    mean, std = model.predict(line, return_std=True)
    ax.fill_between(line[:, 0], mean - 1.645 * std, mean + 1.645 * std, alpha=0.25, linewidth=0)
    ax.plot(line[:, 0], mean)
    ax.plot(line[:, 0], np.sin(2 * line[:, 0]), "--", color="0.4", linewidth=0.8)
    ax.axvspan(-3, 3, color="0.5", alpha=0.08, linewidth=0)
    ax.set(title=name, xlabel="first input")

# %%
# Seconds of a fit by rows. The grey region above has training rows.
counts = {"exact": (250, 500, 1000), "features": (250, 1000, 4000, 16_000, 64_000)}
seconds = {name: [] for name in counts}
for name, numbers in counts.items():
    for n in numbers:
        X, y = sampled(n)
        model = GaussianProcessRegressor(RBF() + WhiteKernel()) if name == "exact" else KreinRidge(
            "gaussian", 512, alpha="evidence", random_state=0
        )  # fmt: skip
        start = perf_counter()
        model.fit(X, y)
        seconds[name].append(perf_counter() - start)
figure, ax = plt.subplots(figsize=(3.6, 2.5))
for name, numbers in counts.items():
    ax.loglog(numbers, seconds[name], marker="o", markersize=6, linewidth=2, label=name)
ax.set(xlabel="rows", ylabel="seconds to fit")
ax.set_xticks([250, 1000, 4000, 16_000, 64_000], ["250", "1,000", "4,000", "16,000", "64,000"])
ax.set_yticks([0.1, 1.0, 10.0], ["0.1", "1", "10"])
ax.minorticks_off()
ax.legend()

# %%
# Next: :doc:`plot_45_drift` and :doc:`/guide/gaussian_processes`.
