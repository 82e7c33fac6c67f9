"""
New frequencies for a stream
============================

A sensor's response becomes rougher in the course of a year. The length scale was right at the
start, and the frequencies of the model are drawn for it. :meth:`~bochner.KreinRidge.refresh` draws
others for a shorter length scale while the model is in use: predictions do not change at that
moment, and later rows teach the new features while the earlier ones fade.
"""

import matplotlib.pyplot as plt
import numpy as np

from bochner import KreinRidge

rng = np.random.default_rng(0)
# Batches, rows of each, and the batch of the refresh, soon after the response begins to change.
N_BATCHES, SIZE, REFRESH = 160, 40, 45
FORGETTING = 0.998  # A weight halves every 350 rows, nine batches


def batch(t):
    """Return the rows of one batch: the response turns faster and faster, from 2 to 6 radians."""
    X = rng.uniform(-1, 1, size=(SIZE, 2))
    speed = 2 + 4 * np.clip((t - 40) / 60, 0, 1)
    return X, np.sin(speed * X[:, 0]) + np.cos(speed * X[:, 1]) + 0.1 * rng.normal(size=SIZE)


batches = [batch(t) for t in range(N_BATCHES)]

# %%
# Three models learn the batches, and predict each one before they learn it: one keeps its
# frequencies; one gets new ones in batch 45, when its score has fallen; and one starts anew then.


def model(length_scale, seed):
    """Return a model without rows."""
    return KreinRidge(n_components=128, length_scale=length_scale, alpha=0.05, random_state=seed)


models = {name: model(1.0, seed=0) for name in ("as it was", "refreshed", "started anew")}
scores = {name: [] for name in models}
for t, (X, y) in enumerate(batches):
    for name in models:
        if t:
            scores[name].append(models[name].log_predictive_density(X, y).mean())
        models[name].partial_fit(X, y, forgetting=FORGETTING)
    if t == REFRESH:
        before = models["refreshed"].predict(X, return_std=True)
        models["refreshed"].refresh(X, y, length_scale=0.3, random_state=1)
        models["started anew"] = model(0.3, seed=1).partial_fit(X, y)
        for name in ("refreshed", "started anew"):
            after = models[name].predict(X, return_std=True)
            jump = max(np.abs(b - a).max() for b, a in zip(before, after, strict=True))
            print(f"{name}: a mean or a standard deviation changes by {jump:.2g} at most")
    fading = models["refreshed"].fading_
    if t % 10 == 0 and fading is not None:
        share = fading.share(models["refreshed"].sums_)
        print(f"batch {t}: the earlier features have a share of {share:.2f}")

for name, found in scores.items():
    print(
        f"{name:12} mean log density of 10 batches after the refresh "
        f"{np.mean(found[REFRESH : REFRESH + 10]):.2f}, of the last 20 {np.mean(found[-20:]):.2f}"
    )
print(models["refreshed"].kernel_)

# %%
# Predictions go on as they were, while those of the model that starts anew jump, and the scores of
# the two are much the same from the first batch on. When the earlier features are gone, the
# refreshed model has the new frequencies alone.

fig, ax = plt.subplots(figsize=(7, 3.2), layout="constrained")
for name, found in scores.items():
    ax.plot(range(1, N_BATCHES), found, label=name)
ax.axvline(REFRESH, color="0.6", linestyle=":")
ax.set(xlabel="batch", ylabel="mean log predictive density", ylim=(-3, 1.2))
ax.legend(loc="lower right")
plt.show()
