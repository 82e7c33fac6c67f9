r"""
A learned kernel for counts and outliers
========================================

:class:`bochner.LearnedKernelRegressor` learns the kernel. With ``likelihood=`` it does so for
counts, and for numbers with outliers.
"""

import matplotlib.pyplot as plt
import numpy as np

from bochner import LearnedKernelRegressor
from bochner.likelihoods import StudentTLikelihood

# %%
# Visits per hour over ten days: a daily wave that grows, observed for one hour or half an hour. The
# kernel is not told of days.
rng = np.random.default_rng(0)
days = np.sort(rng.uniform(0, 10, size=300))
hours = rng.choice([0.5, 1.0], size=300)
log_rate = 1.0 + 0.1 * days + 0.9 * np.sin(2 * np.pi * days)
visits = rng.poisson(hours * np.exp(log_rate) * rng.gamma(6.0, 1 / 6, size=300))
counts = LearnedKernelRegressor(40, likelihood="negative_binomial", n_chains=3, random_state=0)
counts.fit(days[:, None], visits, exposure=hours)
print(counts.likelihood_)

# %%
# One measurement in twelve is off by several units. Normal noise has to explain them by a larger
# variance; Student-t noise has few degrees of freedom, and keeps the wave.
x = np.sort(rng.uniform(0, 10, size=200))
truth = np.sin(2 * x) + 0.5 * np.sin(5 * x)
y = truth + 0.1 * rng.normal(size=200)
outlying = rng.random(200) < 1 / 12
y[outlying] += 5.0 * rng.normal(size=outlying.sum())
normal, robust = (
    LearnedKernelRegressor(40, likelihood=law, n_chains=3, random_state=0).fit(x[:, None], y)
    for law in ("gaussian", StudentTLikelihood(df=None))
)
print(robust.likelihood_)
for model in (normal, robust):
    error = np.sqrt(np.mean((model.predict(x[:, None]) - truth) ** 2))
    density = model.log_predictive_density(x[:, None], y).mean()
    print(f"error {error:.3f}, log density {density:.2f} per row")

# %%
# Left: the rate of an hour with 90 % of its posterior. Right: both fits, with 90 % intervals of a
# new measurement for Student-t noise.
figure, (left, right) = plt.subplots(1, 2, figsize=(7.6, 3.2))
line = np.linspace(0, 10, 250)[:, None]
mean, std = counts.predict_latent(line)
left.plot(days, visits / hours, ".", color="0.6", markersize=3, label="visits per hour")
left.fill_between(line[:, 0], np.exp(mean - 1.645 * std), np.exp(mean + 1.645 * std), alpha=0.3)
left.plot(line, counts.predict(line), label="rate")
left.plot(days, np.exp(log_rate), "--", color="0.2", linewidth=0.8, label="truth")
left.set(title="counts", xlabel="days", ylim=(0, 35))
left.legend(frameon=False, loc="upper left", fontsize="small")
right.plot(x, y, ".", color="0.6", markersize=3)
lower, upper = robust.predict_interval(line, 0.9)
right.fill_between(line[:, 0], lower, upper, color="C1", alpha=0.25, linewidth=0)
right.plot(line, normal.predict(line), label="normal", linewidth=1.0)
right.plot(line, robust.predict(line), label="Student-t")
right.plot(x, truth, "--", color="0.2", linewidth=0.8, label="truth")
right.set(title="outliers", xlabel="$x$", ylim=(-2.6, 2.6))
right.legend(frameon=False, loc="lower right", ncols=3, fontsize="small")
figure.tight_layout()

# %%
# Next: :doc:`/guide/likelihoods`.
