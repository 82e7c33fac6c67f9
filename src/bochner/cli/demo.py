"""`bochner demo`."""

from pathlib import Path
from time import perf_counter

import numpy as np
from rich.console import Console

from bochner import persist
from bochner.benchmarks.co2 import co2_split, compare_co2, fit_co2
from bochner.benchmarks.contenders import OURS, Split
from bochner.benchmarks.store import replacing
from bochner.cli.output import reporting, results_table
from bochner.estimators.krein_ridge import KreinRidge
from bochner.report.forecast import Forecast, forecast_figure


def run_demo(out: Path, n_components: int, seed: int, console: Console) -> None:
    """Fit, compare, print, and write ``co2.png`` and ``co2.bochner``."""
    out.mkdir(parents=True, exist_ok=True)
    split = co2_split()
    with reporting(console) as progress:
        progress("choosing the trend by evidence")
        start = perf_counter()
        model = fit_co2(split, n_components, seed)
        seconds = perf_counter() - start
        progress("comparing with other methods")
        results = compare_co2(split, model, n_components, seed)
        results[OURS]["fit_seconds"] = seconds
        progress("drawing")
        _draw(split, model, out / "co2.png")
    persist.save(model, out / "co2.bochner")
    console.print(
        f"Carbon dioxide at Mauna Loa, weekly: {len(split.y)} weeks to fit, the last ten years "
        f"({len(split.y_test)} weeks) held out. Kernel: {model.kernel_!r}.\n",
        markup=False,
        highlight=False,
    )
    console.print(results_table(results, {"rmse": "RMSE (ppm)", "fit_seconds": "seconds"}))
    console.print(f"\nThe 90 % intervals cover {results[OURS]['coverage']:.1%} of those weeks.")
    console.print(f"Wrote {out / 'co2.png'} and {out / 'co2.bochner'}.", markup=False)


def _draw(split: Split, model: KreinRidge, path: Path) -> None:
    X = np.concatenate([split.X, split.X_test])
    mean, std = model.predict(X, return_std=True)
    observed = np.concatenate([split.y, split.y_test])
    forecast = Forecast(X[:, 0], observed, mean, std, start=float(split.X_test[0, 0]))
    figure = forecast_figure(
        forecast, ylabel="CO₂ (ppm)", title="Weekly CO₂ at Mauna Loa, the last ten years held out"
    )
    with replacing(path) as fresh:
        figure.savefig(fresh, format="png", dpi=150)
