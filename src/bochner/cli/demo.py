"""`bochner demo`: a forecast of carbon dioxide with a learned kernel, compared with others."""

from itertools import product
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from rich.console import Console

from bochner import datasets, persist
from bochner._numerics.arrays import Array
from bochner._numerics.files import replacing
from bochner._numerics.progress import Progress, silent
from bochner.cli.inspecting import periods_text
from bochner.cli.output import facts_table, reporting, results_table
from bochner.comparison.contenders import CONTENDERS, N_COMPONENTS, OURS, evaluate, measure
from bochner.comparison.split import Split
from bochner.estimators.bank_forecaster import BaNKForecaster
from bochner.estimators.krein_ridge import KreinRidge
from bochner.kernels import Gaussian, Kernel, Matern, SpectralMixture
from bochner.learning.periods import Period, dominant_periods, wave_energy
from bochner.plot import forecast, spectrum, styled

FIXED = "a kernel built by hand"

_HELD_OUT_YEARS = 10.0
"""Last years of the record that are held out: a trend and ten seasons to extrapolate."""

_FIRST_YEARS = 2.0
"""First held-out years whose error is shown separately: a short-term forecast."""

_HARMONICS = (1, 2, 3)
"""Waves per year in the kernel built by hand: beyond the third, the seasons have no power."""

_TREND_YEARS = (25.0, 50.0, 100.0)
"""Length scales of the trend to choose from by evidence, within the record's four decades."""

_TREND_VARIANCES = (10.0, 100.0)
"""Variances of the trend to choose from by evidence, relative to that of the record."""

_SEASONS = (0.02, 100.0)
"""Variance of the seasons, relative to that of the record, and years in which they change."""

_WEATHER = (0.003, 1.5)
"""Variance and length scale in years of short-term variation."""

_SIZE, _RATIO = (6.9, 2.6), (2.4, 1.0)
"""Inches of the picture, the width of a page, and widths of its panels relative to each other."""

_DPI = 240
"""Dots per inch of the picture, which is 1,656 pixels wide."""

_METRICS = {"rmse_first": "RMSE, 2 years (ppm)", "rmse": "10 years (ppm)", "fit_seconds": "seconds"}


def run_demo(out: Path, n_frequencies: int, n_chains: int, seed: int, console: Console) -> None:
    """Fit, compare, write ``co2.png`` and ``co2.bochner``, and print the results."""
    out.mkdir(parents=True, exist_ok=True)
    split = co2_split()
    with reporting(console) as progress:
        start = perf_counter()
        # The model is not told about years or seasons.
        model = BaNKForecaster(
            n_frequencies=n_frequencies, n_chains=n_chains, n_jobs=2, random_state=seed
        ).fit(split.X, split.y, progress=progress)
        seconds = perf_counter() - start
        results = compare_co2(split, model, seed, progress=progress)
        results[OURS]["fit_seconds"] = seconds
        progress("drawing")
        _draw(split, model, out / "co2.png")
    persist.save(model, out / "co2.bochner")
    console.print(
        f"Carbon dioxide at Mauna Loa, weekly: {len(split.y)} weeks to fit, the last ten "
        f"years ({len(split.y_test)} weeks) held out. Learned:\n",
        markup=False,
        highlight=False,
    )
    console.print(facts_table(_facts(split, model)))
    console.print()
    console.print(results_table(results, _METRICS))
    console.print(f"\nThe 90 % intervals cover {results[OURS]['coverage']:.1%} of those weeks.")
    console.print(f"Wrote {out / 'co2.png'} and {out / 'co2.bochner'}.", markup=False)


def learned_spectrum(model: BaNKForecaster) -> tuple[Array, Array]:
    """Return angular frequencies in radians per year, and their shares of the variance."""
    omega, energy = [], []
    for bank in model.models_:
        draws = bank.learned_[0].draws
        omega.append(np.abs(draws.omega[:, :, 0]) / bank._scaling.scale[0])
        energy.append(wave_energy(draws.coef, draws.omega.shape[1]))
    return np.concatenate(omega), np.concatenate(energy)


def learned_periods(split: Split, model: BaNKForecaster) -> list[Period]:
    """Return the dominant periods, in years."""
    return dominant_periods(*learned_spectrum(model), float(np.ptp(split.X)))


def _facts(split: Split, model: BaNKForecaster) -> dict[str, str]:
    models = model.models_
    components = np.mean([bank.trace_.kept("n_components").mean() for bank in models])
    noise = np.sqrt(np.mean([bank.noise_variance_ for bank in models]))
    rhat = max(bank.convergence_[0].rhat_predictions for bank in models)
    return {
        "periods (years)": periods_text(learned_periods(split, model)),
        "components": f"{components:.0f} of {model.n_frequencies} frequencies",
        "noise": f"{noise:.2f} ppm",
        "chains": f"{model.n_chains} with a linear trend, {model.n_chains} with a quadratic one; "
        f"R-hat of the predictions {rhat:.2f}",
    }


def _draw(split: Split, model: BaNKForecaster, path: Path) -> None:
    from matplotlib.figure import Figure

    with styled():
        figure = Figure(figsize=_SIZE, layout="constrained")
        left, right = figure.subplots(1, 2, width_ratios=_RATIO)
    forecast(
        model,
        split.X_test,
        history=(split.X, split.y),
        truth=split.y_test,
        xlabel="year",
        ylabel="CO₂ (ppm)",
        ax=left,
    )
    spectrum(model, names=["CO₂"], unit="years", ax=right)
    with replacing(path) as fresh:
        figure.savefig(fresh, format="png", dpi=_DPI)


def co2_split() -> Split:
    """Return the weekly record in ppm by decimal years, with its last ten years held out."""
    record = datasets.load("mauna_loa_co2_weekly")
    known = np.isfinite(record.y)
    X, y = record.X[known], record.y[known]
    train = X[:, 0] < X[-1, 0] - _HELD_OUT_YEARS
    return Split(X[train], y[train], X[~train], y[~train], "regression")


def first_years(split: Split) -> Split:
    """Return the split with the first two of the held-out years only."""
    first = split.X_test[:, 0] < split.X_test[0, 0] + _FIRST_YEARS
    return Split(split.X, split.y, split.X_test[first], split.y_test[first], split.task)


def co2_kernel(trend_years: float, trend_variance: float) -> Kernel:
    """Return trend + seasons that change over a century + short-term variation."""
    trend = trend_variance * Gaussian(trend_years)
    yearly = SpectralMixture(
        weights=tuple(1.0 / harmonic**2 for harmonic in _HARMONICS),
        means=tuple((2.0 * np.pi * harmonic,) for harmonic in _HARMONICS),
        covariances=(0.0,) * len(_HARMONICS),
    )
    seasons = _SEASONS[0] * yearly * Gaussian(_SEASONS[1])
    weather = _WEATHER[0] * Matern(_WEATHER[1], nu=1.5)
    return trend + seasons + weather


def fit_by_hand(split: Split, n_components: int, seed: int) -> KreinRidge:
    """Return the model with the trend, of six, that has the greatest evidence."""
    options: dict[str, Any] = {"scheme": "qmc", "fit_intercept": True, "random_state": seed}
    kernels = (co2_kernel(*trend) for trend in product(_TREND_YEARS, _TREND_VARIANCES))
    models = (KreinRidge(kernel, n_components, "evidence", **options) for kernel in kernels)
    fitted = (model.fit(split.X, split.y) for model in models)
    return max(fitted, key=lambda model: model.log_evidence_)


def compare_co2(
    split: Split,
    model: BaNKForecaster,
    seed: int,
    n_components: int = N_COMPONENTS,
    progress: Progress = silent,
) -> dict[str, dict[str, float]]:
    """Return metrics of all methods for the held-out years, and ``rmse_first`` for two of them."""
    first = first_years(split)

    def errors(fitted: object) -> dict[str, float]:
        return {**evaluate(fitted, split), "rmse_first": evaluate(fitted, first)["rmse"]}

    results = {OURS: errors(model)}
    progress(f"comparing with {FIXED}")
    results[FIXED] = errors(fit_by_hand(split, n_components, seed))
    for name, contender in CONTENDERS.items():
        if name != OURS:
            progress(f"comparing with: {name}")
            other = contender("regression", n_components, seed)
            results[name] = {**measure(other, split), **errors(other)}
    return results
