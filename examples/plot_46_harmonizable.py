"""
A surface that is rough on one side only
========================================

A plain in the west, hills in the east. A stationary kernel has one length scale and one variance
for both. :class:`bochner.kernels.Harmonizable` has windows with a variance and frequencies each,
which the evidence learns.
"""

import matplotlib.pyplot as plt
import numpy as np

from bochner import KreinRidge
from bochner.kernels import Harmonizable

rng = np.random.default_rng(0)


def height(X):
    """Return true heights: waves that are higher and shorter in the east."""
    east = X[:, 0]
    return 0.1 * 10**east * np.sin(25 * east**2 + 3 * X[:, 1]) * np.cos(12 * X[:, 1] * east)


X = rng.random((400, 2))
y = height(X) + 0.1 * rng.normal(size=400)
settings = {"n_components": 800, "alpha": "evidence", "length_scale": "evidence"}
models = {
    "stationary": KreinRidge("gaussian", **settings, random_state=0),
    "harmonizable": KreinRidge(Harmonizable.covering(X, 3), **settings, random_state=0),
}
for model in models.values():
    model.fit(X, y)

# %%
# The truth, and what was learned from 400 places with noise:
side = np.linspace(0, 1, 60)
grid = np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2)
surfaces = {"truth": height(grid)} | {name: m.predict(grid) for name, m in models.items()}
figure, axes = plt.subplots(1, 3, figsize=(7.2, 2.8), sharex=True, sharey=True)
for ax, (name, values) in zip(axes, surfaces.items(), strict=True):
    ax.imshow(values.reshape(60, 60), origin="lower", extent=(0, 1, 0, 1), vmin=-1, vmax=1)
    ax.set(title=name, xlabel="east")
axes[0].set_ylabel("north")
figure.tight_layout()

# %%
# The density of new observations, in the plain and in the hills:
places = rng.random((2000, 2))
observed = height(places) + 0.1 * rng.normal(size=2000)
for name, model in models.items():
    mean, std = model.predict(places, return_std=True)
    density = -0.5 * np.log(2 * np.pi * std**2) - 0.5 * ((observed - mean) / std) ** 2
    plain = places[:, 0] < 0.5
    print(f"{name}: plain {density[plain].mean():.2f}, hills {density[~plain].mean():.2f}")

# %%
# The learned standard deviation of the heights, :math:`\sqrt{k(x, x)}` up to a factor, along a line
# from west to east:
line = np.column_stack([side, np.full(60, 0.5)])
figure, ax = plt.subplots(figsize=(7.2, 2.4))
for name, model in models.items():
    deviation = np.sqrt(model.kernel_.diag(line))
    ax.plot(side, deviation / deviation.max(), label=name)
ax.set(xlabel="east", ylabel="deviation (relative)", ylim=(0, 1.1))
ax.legend(frameon=False)
figure.tight_layout()
