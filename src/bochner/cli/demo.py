"""`bochner demo`."""

from pathlib import Path
from time import perf_counter

import numpy as np
from rich.console import Console

from bochner import persist
from bochner._numerics.files import replacing
from bochner.cli.co2 import co2_split, compare_co2, learner
from bochner.cli.learned import periods_text
from bochner.cli.output import facts_table, reporting, results_table
from bochner.comparison.contenders import OURS, Split
from bochner.estimators.bank_forecaster import BaNKForecaster
from bochner.learning.periods import Period, dominant_periods, wave_energy
from bochner.plot.forecast import Forecast, Spectrum, forecast_figure

_DPI = 150
"""Dots per inch of the picture, which is 1,650 pixels wide."""

_METRICS = {
    "rmse_first": "RMSE, 2 years (ppm)",
    "rmse": "10 years (ppm)",
    "fit_seconds": "seconds",
}


def run_demo(out: Path, n_frequencies: int, n_chains: int, seed: int, console: Console) -> None:
    """Fit, compare, write ``co2.png`` and ``co2.bochner``, and print the results."""
    out.mkdir(parents=True, exist_ok=True)
    split = co2_split()
    with reporting(console) as progress:
        start = perf_counter()
        model = learner(n_frequencies, n_chains, seed).fit(split.X, split.y, progress=progress)
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


def learned_spectrum(model: BaNKForecaster) -> Spectrum:
    """Return angular frequencies in radians per year, and their shares of the variance."""
    omega, energy = [], []
    for bank in model.models_:
        draws = bank.learned_[0].draws
        omega.append(np.abs(draws.omega[:, :, 0]) / bank._scaling.scale[0])
        energy.append(wave_energy(draws.coef, draws.omega.shape[1]))
    return Spectrum(np.concatenate(omega), np.concatenate(energy))


def learned_periods(split: Split, model: BaNKForecaster) -> list[Period]:
    """Return the dominant periods, in years."""
    spectrum = learned_spectrum(model)
    return dominant_periods(spectrum.omega, spectrum.energy, float(np.ptp(split.X)))


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
    X = np.concatenate([split.X, split.X_test])
    mean, std = model.predict(X, return_std=True)
    observed = np.concatenate([split.y, split.y_test])
    forecast = Forecast(X[:, 0], observed, mean, std, start=float(split.X_test[0, 0]))
    figure = forecast_figure(
        forecast,
        learned_spectrum(model),
        ylabel="CO₂ (ppm)",
        title="Weekly CO₂ at Mauna Loa, the last ten years held out",
        unit="years",
    )
    with replacing(path) as fresh:
        figure.savefig(fresh, format="png", dpi=_DPI)
