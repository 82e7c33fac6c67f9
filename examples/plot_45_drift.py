"""
Rows that arrive in batches, from a function that drifts
========================================================

A sensor's response to temperature and load changes over the weeks, and at once when it is repaired.
Two models learn the rows batch by batch: one keeps all rows, and one lets weights fall with age.
Each batch is predicted before it is learned.
"""

import matplotlib.pyplot as plt
import numpy as np

from bochner import KreinRidge

rng = np.random.default_rng(0)
N_BATCHES, SIZE, REPAIR = 150, 40, 100  # Weeks, rows of each, and the week of the repair


def batch(t):
    """Return the rows of week t; the response turns slowly, and is set back in week 100."""
    X = rng.uniform(-1, 1, size=(SIZE, 2))
    angle = 0.03 * (t if t < REPAIR else 0.3 * (t - REPAIR))
    moved = X[:, 0] * np.cos(angle) + X[:, 1] * np.sin(angle)
    return X, np.sin(3 * moved) + 0.1 * rng.normal(size=SIZE)


batches = [batch(t) for t in range(N_BATCHES)]

# %%
# Ridge regression on features needs only sums over the rows, to which ``partial_fit`` adds those of
# a batch. ``forgetting=0.997`` halves a weight every 230 rows, about six weeks.

models = {
    name: KreinRidge(n_components=128, length_scale=1.0, alpha=0.05, random_state=0)
    for name in ("all rows", "forgetting")
}
errors = {name: [] for name in models}
for week, (X, y) in enumerate(batches):
    for name, model in models.items():
        if week:
            errors[name].append(np.sqrt(np.mean((model.predict(X) - y) ** 2)))
        model.partial_fit(X, y, forgetting=0.997 if name == "forgetting" else 1.0)

for name, of_model in errors.items():
    print(
        f"{name:10} mean RMSE {np.mean(of_model):.2f}, last 20 weeks {np.mean(of_model[-20:]):.2f}"
    )

# %%
# The error rises at the repair for both models, and falls as soon as the rows from before have lost
# their weight. With all rows it falls slowly.

figure, ax = plt.subplots(figsize=(3.6, 2.5))
for name, of_model in errors.items():
    ax.plot(range(1, N_BATCHES), of_model, label=name)
ax.axvline(REPAIR, color="0.5", linestyle=":")
ax.annotate("repair", (REPAIR, 1.0), xytext=(-4, 0), textcoords="offset points", ha="right")
ax.set(xlabel="week", ylabel="error of the next batch", ylim=(0, None))
ax.legend(loc="upper left")

# %%
# Next: :doc:`/guide/large` for files that are larger than memory.
