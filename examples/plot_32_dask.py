"""
Rows on a cluster: Dask
=======================

A Dask array may be spread over many machines. Every worker adds up the sums of its own rows, and
only these sums, of the size of the features squared, travel.
"""

import dask.array as da
import matplotlib.pyplot as plt
import numpy as np

from bochner import KreinRidge, kernels

# %%
# A lazy array of 200,000 rows in 20 blocks; nothing of it exists until a block is needed.
rng = da.random.RandomState(0)
X = rng.normal(size=(200_000, 4), chunks=(10_000, 4))
y = da.sin(2 * X[:, 0]) * X[:, 1] + 0.3 * rng.normal(size=200_000, chunks=10_000)
model = KreinRidge(kernels.Gaussian(1.5), 512, alpha=0.1, random_state=0).fit(X, y)

# %%
# Predictions of a Dask array are a Dask array again, computed when they are asked for.
predictions = model.predict(X)
print(type(predictions).__module__, predictions.shape, predictions.chunks[0][:3])
truth = (da.sin(2 * X[:, 0]) * X[:, 1])[:10_000].compute()
found = predictions[:10_000].compute()
print(f"R² against the truth: {1 - np.mean((found - truth) ** 2) / truth.var():.3f}")

# %%
# The learned function, next to the truth:
axis = np.linspace(-2, 2, 80)
grid = np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)
surfaces = {
    "truth": np.sin(2 * grid[:, 0]) * grid[:, 1],
    "learned": model.predict(np.c_[grid, np.zeros((len(grid), 2))]),
}
figure, axes = plt.subplots(1, 2, figsize=(7.2, 3.2), sharey=True)
for ax, (title, values) in zip(axes, surfaces.items(), strict=True):
    ax.contourf(
        axis,
        axis,
        values.reshape(80, 80),
        levels=np.linspace(-2.2, 2.2, 23),
        cmap="RdBu_r",
        extend="both",
    )
    ax.set(title=title, xlabel="$x_1$")
axes[0].set_ylabel("$x_2$")
figure.tight_layout()

# %%
# With ``dask.distributed`` the same lines use the workers of its client. Next: :doc:`/guide/dask`.
