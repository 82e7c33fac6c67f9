"""
Bike demand by hour: an interaction that matters
================================================

How many bikes are rented in an hour depends on the hour, and differently on working days: people
ride to work at eight and home at six. A model of all 17,379 hours of two years finds this by
itself.
"""

import csv
import os
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

# %%
# The fit takes half a minute, so its results are read from ``docs/results/bike_demand.csv``. The
# command ``python -m benchmarks.bike_demand FOLDER`` makes them, and the model is this:
#
# .. code-block:: python
#
#     model = TableRegressor(random_state=0).fit(inputs, bikes)
#     model.importance(), model.predict_interval(inputs, 0.9)
root = next(p for p in Path(os.getcwd()).resolve().parents if (p / "docs/results").is_dir())
with (root / "docs/results/bike_demand.csv").open(encoding="utf-8") as file:
    rows = [
        (row["quantity"], row["of"], row["and"], float(row["value"]))
        for row in csv.DictReader(file)
    ]
for quantity, of, _, value in rows:
    if quantity in ("r2", "share") and value > 0.03:
        print(f"{quantity:>5} {of:<12} {value:.3f}")

# %%
# Predictions along the hour, averaged over 500 rows, for both kinds of day. Neither column alone
# would show the two peaks.
figure, ax = plt.subplots(figsize=(3.6, 2.5))
for day in ("working day", "free day"):
    effect = [value for quantity, _, of, value in rows if quantity == "effect" and of == day]
    ax.plot(np.arange(24), effect, label=day, linewidth=2)
ax.set(xlabel="hour of the day", ylabel="rented bikes", xticks=range(0, 24, 4), ylim=(0, None))
ax.legend()

# %%
# Intervals of all levels contain the test rows as often as they should:
coverage = [(float(of), value) for quantity, of, _, value in rows if quantity == "coverage"]
print(*(f"{level:.0%} intervals: {value:.1%}" for level, value in coverage), sep="\n")

# %%
# Data: Fanaee-T and Gama, UCI Machine Learning Repository, CC BY 4.0. Next:
# :doc:`plot_07_single_prediction`, and :doc:`/guide/tables`.
