"""
Several targets at once
=======================

A model of several targets shares its kernels between them, and its draws keep what the errors of
the targets have in common. Here position and speed of a pendulum are predicted from time, length
and friction.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from bochner import TableRegressor

rng = np.random.default_rng(0)
limits = pd.DataFrame({"time": (0, 4), "length": (0.5, 2.0), "friction": (0.1, 0.5)})
inputs = pd.DataFrame({name: rng.uniform(*ends, size=900) for name, ends in limits.items()})
frequency, fading = np.sqrt(9.81 / inputs["length"]), np.exp(-inputs["friction"] * inputs["time"])
targets = pd.DataFrame(
    {
        "position": fading * np.cos(frequency * inputs["time"]),
        "speed": -fading * np.sin(frequency * inputs["time"]),
    }
)
# The sensor's errors are correlated: what disturbs one reading disturbs the other.
noise = rng.multivariate_normal([0, 0], [[0.01, 0.008], [0.008, 0.01]], size=900)
measured = targets + noise
train, test = slice(0, 600), slice(600, None)
model = TableRegressor(effort="quick", random_state=0).fit(inputs[train], measured[train])

# %%
# Predictions have a column for each target, and so have intervals and expected errors.
predictions = model.predict(inputs[test])
lower, upper = model.predict_interval(inputs[test], level=0.9)
inside = (lower <= measured[test]) & (measured[test] <= upper)
print("RMSE    ", np.sqrt(np.mean((predictions - measured[test]) ** 2, axis=0)).round(3).to_dict())
print("expected", dict(zip(measured.columns, model.score_.round(3).tolist(), strict=True)))
print("coverage", inside.mean().round(3).to_dict())

# %%
# Draws of both targets for one row are correlated as their errors are (0.8 in truth):
draws = model.sample(inputs[test][:1], 500, random_state=0)[0]
print(f"correlation of draws {np.corrcoef(draws)[0, 1]:.2f}")

# %%
# A swing of a pendulum with a length of 1.2 and a friction of 0.2, as predicted and in truth:
swing = pd.DataFrame({"time": np.linspace(0, 4, 200), "length": 1.2, "friction": 0.2})
mean = model.predict(swing)
low, high = model.predict_interval(swing, level=0.9)
rate, fade = np.sqrt(9.81 / 1.2), np.exp(-0.2 * swing["time"])
truth = np.c_[fade * np.cos(rate * swing["time"]), -fade * np.sin(rate * swing["time"])]
figure, axes = plt.subplots(1, 2, figsize=(7.2, 3.0))
for k, name in enumerate(measured.columns):
    axes[0].fill_between(swing["time"], low[:, k], high[:, k], alpha=0.2, linewidth=0)
    axes[0].plot(swing["time"], mean[:, k], label=name)
    axes[0].plot(swing["time"], truth[:, k], color="0.3", linestyle="--", linewidth=0.8)
axes[0].set(xlabel="time", title="with 90 % intervals; dashed: truth")
axes[0].legend(frameon=False, loc="upper right")
axes[1].plot(*draws, ".", markersize=3)
axes[1].set(xlabel="position", ylabel="speed", title="draws for one test row")
figure.tight_layout()

# %%
# Next: :doc:`/guide/tables`.
