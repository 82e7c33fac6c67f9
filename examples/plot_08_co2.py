"""
Forecasting CO₂: trend, season and intervals
============================================

Weekly concentrations of CO₂ on Mauna Loa. The model is not told that there are years or trends; it
finds both, forecasts the last ten years and separates the parts.
"""

import numpy as np

from bochner import Forecaster, datasets, plot

series = datasets.load("mauna_loa_co2_weekly").to_frame()
print(series.head(3).to_string(index=False))
times, ppm = series["decimal_year"].to_numpy(), series["co2"].to_numpy()
train = times < 1992

# %%
# Some weeks are missing, so the model is given the times of the measurements.
model = Forecaster(random_state=0).fit(ppm[train], times=times[train])
for period in model.periods_:
    print(f"period found: {period.length:.4f} years")

mean, std = model.predict(times[~train], return_std=True)
lower, upper = model.predict_interval(times[~train], level=0.9)
inside = (lower <= ppm[~train]) & (ppm[~train] <= upper)
print(f"RMSE {np.sqrt(np.mean((mean - ppm[~train]) ** 2)):.2f} ppm, coverage {inside.mean():.0%}")

# %%
# The forecast, its 50 % and 90 % intervals, and what was measured:
plot.forecast(
    model,
    times[~train],
    history=(times[train], ppm[train]),
    truth=ppm[~train],
    level=(0.5, 0.9),
    xlabel="year",
    ylabel="CO₂ (ppm)",
)

# %%
# Its parts, each with its interval:
plot.components(model, times, xlabel="year")

# %%
# Data: Scripps CO₂ programme and NOAA. Next: :doc:`plot_09_airline_and_sunspots` and
# :doc:`/guide/series`.
