"""
Ten million rows, one chunk at a time
=====================================

Ridge regression on features needs only sums over the rows. They can be added up from chunks of a
file or a generator, so data may be larger than memory and the cost is linear.
"""

import csv
import os
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from bochner import KreinRidge, kernels

# %%
# A generator of chunks stands for a file. Here are five of 20,000 rows; the function returns the
# same rows each time, since a fit may need more than one pass.


def chunks(count=5, rows=20_000):
    """Yield rows and targets of one chunk after the other."""
    for seed in range(count):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(rows, 4))
        yield X, np.sin(2 * X[:, 0]) * X[:, 1] + 0.3 * rng.normal(size=rows)


model = KreinRidge(kernels.Gaussian(1.5), 512, alpha=0.1, memory_limit="200MB", random_state=0).fit(
    chunks()
)
X = np.random.default_rng(99).normal(size=(2000, 4))
truth = np.sin(2 * X[:, 0]) * X[:, 1]
print(f"R² against the truth: {1 - np.mean((model.predict(X) - truth) ** 2) / truth.var():.3f}")

# %%
# Rows that arrive later are added by ``partial_fit``; the result is that of one fit to all of them.
streamed = KreinRidge(kernels.Gaussian(1.5), 512, alpha=0.1, random_state=0)
for rows, y in chunks():
    streamed.partial_fit(rows, y)
print("largest difference:", f"{np.abs(streamed.predict(X) - model.predict(X)).max():.1e}")

# %%
# More rows allow more features, and the error falls with both:
figure, ax = plt.subplots(figsize=(4.8, 3.2))
for count in (32, 128, 512):
    errors = []
    for n_chunks in (1, 2, 4, 8):
        own = KreinRidge(kernels.Gaussian(1.5), count, alpha=0.1, random_state=0)
        own.fit(chunks(n_chunks, 5000))
        errors.append(np.sqrt(np.mean((own.predict(X) - truth) ** 2)))
    ax.loglog(
        5000 * np.array([1, 2, 4, 8]), errors, marker="o", markersize=3, label=f"{count} features"
    )
ax.set(xlabel="rows", ylabel="RMSE against the truth")
ax.set_xticks([5000, 10_000, 20_000, 40_000], ["5,000", "10,000", "20,000", "40,000"])
ax.set_yticks([0.2, 0.3, 0.5, 0.7], ["0.2", "0.3", "0.5", "0.7"])
ax.minorticks_off()
ax.legend(frameon=False)

# %%
# Ten million rows of 20 columns with 512 features, on two cores, from ``docs/results/speed.csv``
# (made by ``make bench-speed``):
root = next(p for p in Path(os.getcwd()).resolve().parents if (p / "docs/results").is_dir())
with (root / "docs/results/speed.csv").open(encoding="utf-8") as file:
    rows = [row for row in csv.DictReader(file) if row["n"] == "10000000"]
for metric, unit in {"seconds": "seconds", "peak_megabytes": "MB at most"}.items():
    print(
        f"{np.median([float(row['value']) for row in rows if row['metric'] == metric]):.0f} {unit}"
    )

# %%
# Next: :doc:`/guide/large`, and :doc:`plot_32_dask` for rows on several machines.
