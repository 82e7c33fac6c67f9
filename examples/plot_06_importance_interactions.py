"""
Feature importance and interactions
===================================

Which columns does a prediction depend on, and which of them act together? The truth of this table
is known: a wave along the first column, a product of the second and the third, and three columns
without any effect.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from bochner import TableRegressor, plot

rng = np.random.default_rng(0)
X = pd.DataFrame(
    rng.uniform(-1, 1, size=(600, 6)), columns=["wave", "left", "right", "a", "b", "c"]
)
y = np.sin(np.pi * X["wave"]) + 2 * X["left"] * X["right"] + 0.2 * rng.normal(size=600)
model = TableRegressor(effort="quick", random_state=0).fit(X, y)

# %%
# The share of a column is the part of the predictions' variance that is lost if the column is
# averaged over (a total Sobol index).
print(model.importance())
print(model.interactions())

# %%
# In theory the wave has a variance of 1/2, and the product one of 4/9: the shares are 53 % and 47
# %, and the product has no share without both of its columns.
figure, axes = plt.subplots(1, 2, figsize=(7.2, 2.8))
plot.relevance(model, ax=axes[0])
plot.interactions(model, ax=axes[1])
figure.tight_layout()

# %%
# The effect of the pair is the saddle of a product:
plot.effect(model, "left", "right", label="prediction")

# %%
# Next: :doc:`plot_07_single_prediction` and :doc:`/guide/tables`.
