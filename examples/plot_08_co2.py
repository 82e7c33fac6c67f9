"""
Forecasting CO₂: trend, season and intervals
============================================

Weekly concentrations of CO₂ on Mauna Loa. The model is not told that there are years or trends; it
finds both, forecasts the last ten years and separates the parts.
"""

import matplotlib.dates as mdates
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from bochner import Forecaster, datasets, plot

# sphinx_gallery_thumbnail_number = 2
with datasets.table_file("mauna_loa_co2_weekly").open() as file:
    series = pd.read_csv(file, parse_dates=["date"])
dates, ppm = series["date"].to_numpy(), series["co2"].to_numpy()
train = dates < np.datetime64("1992-01-01")
print(pd.Series(ppm, dates).head(3).to_string())

# %%
# Some weeks are missing, so the model is given the dates of the measurements.
model = Forecaster(random_state=0).fit(ppm[train], times=dates[train])
for period in model.periods_:
    print(f"period found: {period.length:.1f} days")

mean, std = model.predict(dates[~train], return_std=True)
lower, upper = model.predict_interval(dates[~train], level=0.9)
inside = (lower <= ppm[~train]) & (ppm[~train] <= upper)
print(f"RMSE {np.sqrt(np.mean((mean - ppm[~train]) ** 2)):.2f} ppm, coverage {inside.mean():.0%}")

# %%
# The forecast, its 50 % and 90 % intervals, and what was measured:
plot.forecast(
    model,
    dates[~train],
    truth=ppm[~train],
    level=(0.5, 0.9),
    xlabel="",
    ylabel="CO₂ (ppm)",
)

# %%
# The last two years before the forecast and its first two:
shown = np.abs(dates - np.datetime64("1992-01-01")) < np.timedelta64(730, "D")
later = shown & ~train
lower, upper = model.predict_interval(dates[later], level=0.9)
figure, ax = plt.subplots(figsize=(3.6, 2.5))
ax.fill_between(dates[later], lower, upper, alpha=0.25, linewidth=0, label="90 % interval")
ax.plot(dates[later], model.predict(dates[later]), linewidth=2, label="forecast")
ax.plot(dates[shown], ppm[shown], ".", color="0.25", markersize=4, label="measured")
ax.set(ylabel="CO₂ (ppm)", xticks=pd.date_range("1990", "1994", freq="YS"))
ax.xaxis.set_major_formatter(mdates.DateFormatter("%Y"))
ax.legend()

# %%
# Its parts, each with its interval:
plot.components(model, dates, xlabel="")

# %%
# Data: Scripps CO₂ programme and NOAA. Next: :doc:`plot_09_airline_and_sunspots` and
# :doc:`/guide/series`.
