"""
Kernels on columns: a category, a period and a smooth column
============================================================

The warmest hour of a day in Seattle depends on the season, on the kind of weather and on the
coldest hour. A sum of kernels, each on its own columns, is a model whose parts can be looked at one
by one.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.model_selection import GridSearchCV

from bochner import KreinRidge, datasets
from bochner.kernels import Categorical, Gaussian, Periodic

# %%
# Dates are in years, and the kinds of weather are codes 0 to 4.
weather = datasets.load("seattle_weather")
table, y = pd.DataFrame(weather.X, columns=weather.feature_names), weather.y
past = table["decimal_year"] < 2015.0
kinds = weather.levels["weather"]
print(table.head(3).round(2).to_string(index=False))
print(dict(enumerate(kinds)))

# %%
# The season may depend on the kind of weather, as the product says. Names of columns are those of
# the table that the model is fitted to.
season = Periodic(period=1.0, length_scale=1.0).on("decimal_year")
kind = Categorical(correlation=0.5).on("weather")
# Degrees and millimetres over which the effects change
smooth = Gaussian(10.0).on("temp_min") + 0.1 * Gaussian(8.0).on("precipitation")
kernel = season * kind + kind + smooth
model = KreinRidge(kernel, 512, alpha="evidence", fit_intercept=True, random_state=0)
model.fit(table[past], y[past])
print(f"R² of the last year: {model.score(table[~past], y[~past]):.2f}")

# %%
# Parameters of kernels have names, as in scikit-learn: ``k1`` is the first term of the sum, and the
# season its first factor. The search replaces the kernel in copies of the model.
grid = {"kernel__k1__k1__kernel__length_scale": [0.5, 1.0, 2.0]}
search = GridSearchCV(model, grid, cv=3).fit(table[past], y[past])
print(search.best_params_)

# %%
# The evidence learns all parameters at once: length scales of the season and of both smooth
# columns, and how much each term contributes.
learned = KreinRidge(
    kernel, 512, alpha="evidence", length_scale="evidence", fit_intercept=True, random_state=0
).fit(table[past], y[past])
print(f"R² of the last year: {learned.score(table[~past], y[~past]):.2f}")
print(f"log evidence {learned.log_evidence_:.0f}, before {model.log_evidence_:.0f}")
for term in learned.kernel_.terms:
    print(term)

# %%
# Each part is its kernel between new rows and those of the fit, times the residuals over
# ``alpha_``: in kernel ridge regression these are the weights of the rows.
row_weights = (y[past] - model.predict(table[past])) / model.alpha_


def part(kernel, rows):
    """Return what a term of the kernel adds to the prediction of some rows."""
    return kernel(rows, table[past]) @ row_weights


typical = table[past].median().to_frame().T
product, own, cold, rain = model.kernel.terms
figure, ax = plt.subplots(figsize=(3.6, 2.5))
days = pd.concat([typical] * 100, ignore_index=True)
days["decimal_year"] = np.linspace(2014.0, 2015.0, 100)
for code, name in enumerate(kinds):
    rows = days.assign(weather=float(code))
    ax.plot(12 * (rows["decimal_year"] - 2014), part(product + own, rows), label=name)
ax.set(xticks=[0.5, 3.5, 6.5, 9.5], xticklabels=["January", "April", "July", "October"])
ax.set(ylabel="part of the warmest hour (°C)")
ax.legend(fontsize=6)

# %%
# The parts of the coldest hour and of the rain:
figure, axes = plt.subplots(1, 2, figsize=(6.9, 2.5), sharey=True)
for ax, term, column, label in (
    (axes[0], cold, "temp_min", "coldest hour (°C)"),
    (axes[1], rain, "precipitation", "precipitation (mm)"),
):
    values = np.linspace(*table[column].quantile([0.01, 0.99]), 100)
    ax.plot(values, part(term, days.assign(**{column: values})))
    ax.set_xlabel(label)
axes[0].set_ylabel("part (°C)")

# %%
# The parts and the intercept sum to the prediction:
total = model.intercept_ + sum(part(term, table[~past]) for term in model.kernel.terms)
print(f"largest difference {np.abs(total - model.predict(table[~past])).max():.2f} °C")

# %%
# Data: NOAA, public domain. Next: :doc:`/guide/kernels_on_columns`.
