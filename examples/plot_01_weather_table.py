"""
Predictions with intervals: the weather of Seattle
==================================================

How warm will a day be, given its date, rain, wind and coldest hour? A model of a table of dates,
text and numbers is fitted to three years, predicts the fourth, and returns intervals with each
prediction.
"""

import matplotlib.dates as mdates
import matplotlib.pyplot as plt

from bochner import TableRegressor, datasets, plot, read_table

# %%
# :func:`bochner.read_table` reads the file as the command line does: it finds dates, numbers and
# text.
weather = read_table(datasets.table_file("seattle_weather"))
print(weather.head(3).to_string(index=False))

# %%
# The rows are in the order of time, and the model is for later days. ``time="date"`` makes the
# model choose and calibrate itself by predicting later rows from earlier ones.
inputs = ["date", "precipitation", "temp_min", "wind", "weather"]
past, future = weather[weather["date"] < "2015-01-01"], weather[weather["date"] >= "2015-01-01"]
model = TableRegressor(effort="quick", random_state=0)
model.fit(past[inputs], past["temp_max"], time="date")

mean = model.predict(future[inputs])
lower, upper = model.predict_interval(future[inputs], level=0.9)
inside = (lower <= future["temp_max"]) & (future["temp_max"] <= upper)
print(
    f"R² {model.score(future[inputs], future['temp_max']):.2f}, intervals hold {inside.mean():.0%}"
)

# %%
# The prediction and its interval for each day of the year that the model has not seen:
figure, ax = plt.subplots(figsize=(3.6, 2.5))
ax.fill_between(future["date"], lower, upper, alpha=0.25, linewidth=0, label="90 % interval")
ax.plot(future["date"], mean, linewidth=1.2, label="prediction")
ax.plot(future["date"], future["temp_max"], ".", color="0.25", markersize=3, label="observed")
ax.xaxis.set_major_locator(mdates.MonthLocator(bymonth=(1, 4, 7, 10)))
ax.xaxis.set_major_formatter(mdates.DateFormatter("%b %Y"))
ax.set(ylabel="warmest hour (°C)")
ax.legend()

# %%
# Predicted against observed temperatures, with the interval of every day:
plot.predictions(model, future[inputs], future["temp_max"], unit="°C")

# %%
# Data: NOAA, public domain. Next: :doc:`/guide/tables`, and the same model in one command in
# :doc:`/guide/commands`.
