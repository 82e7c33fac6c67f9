r"""
Directed edges: which of two papers cites the other
===================================================

An edge from x to y is not one from y to x. A model of pairs with features of both ends, :math:`f(x,
y) = z(x)^\top A\, z'(y)`, learns the direction of edges from their ends. Scores that are symmetric
in the two ends are right half of the time, whatever they are.
"""

import csv
import os
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from bochner import AsymmetricPairRidge, kernels

# sphinx_gallery_thumbnail_number = 2

# %%
# A graph of papers, generated so that the truth is known: papers cite earlier ones on similar
# topics. A row has two coordinates of the topic and a noisy trace of the year.
rng = np.random.default_rng(0)
n = 500  # Papers
# Topics fill a square; years are in units of the whole time
topic, year = rng.uniform(-1, 1, size=(n, 2)), rng.uniform(0, 1, size=n)
papers = np.c_[topic, 2 * year + topic[:, 0] * year + 0.1 * rng.normal(size=n)]
distance = np.linalg.norm(topic[:, None] - topic[None], axis=2)
after = year[:, None] - year[None]
cites = rng.random((n, n)) < np.exp(-((distance / 0.2) ** 2)) * (after > 0) * np.exp(-after)
edges = rng.permutation(np.argwhere(cites))
print(f"{len(edges)} citations among {n} papers")

# %%
# Half of the training edges are turned around and labelled −1.
train, test = edges[: len(edges) // 2], edges[len(edges) // 2 :]
turned = np.where(np.arange(len(train)) % 2 == 0, 1.0, -1.0)
first = np.where(turned > 0, train[:, 0], train[:, 1])
second = np.where(turned > 0, train[:, 1], train[:, 0])
kernel = kernels.ShiftGaussian(1.0, shift=(0.0, 0.0, -0.3))
model = AsymmetricPairRidge(kernel, 128, alpha="evidence", random_state=0)
model.fit(papers[first], turned, right=papers[second])

forth = model.predict(papers[test[:, 0]], right=papers[test[:, 1]])
back = model.predict(papers[test[:, 1]], right=papers[test[:, 0]])
print(f"direction found for {np.mean(forth > back):.0%} of {len(test)} test edges")

# %%
# On real graphs of citations, Cora and CiteSeer: share of held-out edges whose direction is found
# from the words of both papers, read from ``docs/results/asymmetric.csv`` (made by ``make
# bench-asymmetric``).
root = next(p for p in Path(os.getcwd()).resolve().parents if (p / "docs/results").is_dir())
with (root / "docs/results/asymmetric.csv").open(encoding="utf-8") as file:
    rows = [row for row in csv.DictReader(file) if row["part"] == "direction"]
names = {
    "pairs, SinhGaussian": "pairs, asymmetric kernel",
    "rows [x, y], Gaussian": "rows of both ends, Gaussian kernel",
    "logistic regression on x − y": "logistic regression on x − y",
    "ShiftGaussian alone, symmetrised": "any symmetric score",
}
figure, axes = plt.subplots(1, 2, figsize=(7.2, 3.0))
axes[0].plot(forth, back, ".", markersize=3)
axes[0].plot([-1.5, 1.5], [-1.5, 1.5], color="0.3", linewidth=0.8)
axes[0].set(xlabel="score of the edge", ylabel="score of its reversal", title="generated graph")
for shift, graph in enumerate(("cora_directed", "citeseer_directed")):
    shares = [
        100 * np.mean([
            float(row["value"]) for row in rows
            if (row["dataset"], row["method"], row["metric"]) == (graph, name, "accuracy")
        ])
        for name in names
    ]  # fmt: skip
    label = graph.split("_")[0].capitalize()
    axes[1].barh(np.arange(4) + 0.4 * shift - 0.2, shares, height=0.38, label=label)
axes[1].set_yticks(range(4), names.values())
axes[1].set(xlim=(40, 100), xlabel="direction found (%)", title="citations")
axes[1].invert_yaxis()
axes[1].legend(loc="lower right")

# %%
# Test edges among papers with similar topics, with arrows in the predicted direction. Orange arrows
# are wrong.
near = test[np.all(np.abs(topic[test]) < 0.35, axis=(1, 2))][:60]
right = (model.predict(papers[near[:, 0]], right=papers[near[:, 1]])
         > model.predict(papers[near[:, 1]], right=papers[near[:, 0]]))  # fmt: skip
figure, ax = plt.subplots(figsize=(3.6, 2.9))
for is_right, color in ((True, "C0"), (False, "C1")):
    tails, heads = near[right == is_right].T if is_right else near[~right][:, ::-1].T
    ax.quiver(*topic[tails].T, *(topic[heads] - topic[tails]).T, color=color, angles="xy",
              scale_units="xy", scale=1, width=0.007)  # fmt: skip
ax.plot(*topic[near.ravel()].T, "o", color="0.4", markersize=4)
ax.set(xlabel="first coordinate of the topic", ylabel="second coordinate", xticks=[], yticks=[])

# %%
# Next: :doc:`/guide/directed`.
