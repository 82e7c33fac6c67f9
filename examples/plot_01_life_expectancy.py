"""
Predictions with intervals: life expectancy
===========================================

How long do people live, given their country, the year, the population and the income per person?
A model of a table of text and numbers is fitted to four fifths of the rows, predicts the others,
and returns an interval with each prediction.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from bochner import TableRegressor, datasets, plot, read_table

# %%
# :func:`bochner.read_table` reads the file as the command line does: it finds numbers and text.
table = read_table(datasets.table_file("gapminder"))
print(table.head(3).to_string(index=False))

# %%
# A fifth of the rows, chosen at random, is left out and predicted.
inputs = ["country", "continent", "year", "pop", "gdpPercap"]
test = table.sample(frac=0.2, random_state=0)
train = table.drop(test.index)
model = TableRegressor(effort="quick", random_state=0)
model.fit(train[inputs], train["lifeExp"])

lower, upper = model.predict_interval(test[inputs], level=0.9)
inside = (lower <= test["lifeExp"]) & (test["lifeExp"] <= upper)
print(f"R² {model.score(test[inputs], test['lifeExp']):.3f}, intervals hold {inside.mean():.0%}")

# %%
# Two countries year by year, with population and income interpolated, and five years beyond the
# table. The interval is narrow where life expectancy rose steadily, and wide in Botswana, where it
# fell in the AIDS epidemic.
figure, axes = plt.subplots(1, 2, figsize=(6.9, 2.6), sharex=True)
years = np.arange(1952, 2013)
for ax, country in zip(axes, ("Brazil", "Botswana"), strict=True):
    known = table[table["country"] == country]
    columns = {name: np.interp(years, known["year"], known[name]) for name in ("pop", "gdpPercap")}
    rows = pd.DataFrame({"year": years, **columns})
    rows = rows.assign(country=country, continent=known["continent"].iloc[0])[inputs]
    lower, upper = model.predict_interval(rows, level=0.9)
    ax.fill_between(years, lower, upper, alpha=0.25, linewidth=0, label="90 % interval")
    ax.plot(years, model.predict(rows), linewidth=1.2, label="prediction")
    ax.plot(known["year"], known["lifeExp"], ".", color="0.25", label="observed")
    ax.set(title=country)
axes[0].set(ylabel="life expectancy (years)")
axes[0].legend()

# %%
# Predicted against observed values, with the interval of every row:
plot.predictions(model, test[inputs], test["lifeExp"], unit="years")

# %%
# Data: Gapminder, CC BY 3.0. Next: :doc:`/guide/tables`, and the same model in one command in
# :doc:`/guide/commands`.
