"""The commands with their options; each command calls one function.

A command checks its files and then imports its function when it runs, so that help, wrong options
and wrong file names are reported at once.
"""

from functools import partial
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace
from typing import Annotated

import typer

from bochner import __version__
from bochner._base.file_writing import check_model_file
from bochner.cli import options as o
from bochner.cli.error_messages import Command, Commands, run
from bochner.files.text_files import find

if find_spec("pandas") is None:  # Fails at once if the extra is missing
    raise ModuleNotFoundError("No module named 'pandas'", name="pandas")

app = typer.Typer(
    name="bochner",
    cls=Commands,
    epilog="Start with: bochner demo",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)


command = partial(app.command, cls=Command)


def _show_version(value: bool) -> None:
    if value:
        typer.echo(f"bochner {__version__}")
        raise typer.Exit


@app.callback()
def common(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    """Kernel machines and Gaussian processes for tables: predictions with intervals."""


@command(epilog="Example: bochner fit houses.csv --target price --report houses.html")
def fit(
    ctx: typer.Context,
    file: o.TableFile,
    target: o.Target,
    task: o.Task = "auto",
    weight: o.Weight = None,
    weights: o.Weights = "precisions",
    id: o.Id = None,
    drop: o.Drop = None,
    split: o.SplitKind = "auto",
    time: o.Time = None,
    group: o.Group = None,
    test_size: o.TestSize = 0.2,
    effort: o.Effort = "default",
    transformation: o.Transformation = "none",
    time_limit: o.TimeLimit = None,
    n_jobs: o.Jobs = None,
    interval: o.Level = 0.9,
    seed: o.Seed = 0,
    compare: o.Compare = True,
    refit: o.Refit = False,
    decimal: o.Decimal = "auto",
    dates: o.Dates = "auto",
    types: o.Types = None,
    missing: o.Missing = None,
    skip: o.Skip = None,
    header: o.Header = None,
    encoding: o.Encoding = None,
    fill_down: o.FillDown = None,
    bad_lines: o.BadLines = "error",
    table: o.TableName = None,
    out: o.ModelOut = Path("model.bochner"),
    report: o.Report = None,
    as_json: o.Json = False,
) -> None:
    """Fit a model to a table, test it on held-out rows next to other methods, and save it."""
    options = SimpleNamespace(**locals())
    find(file)
    from bochner.cli.fitting import fit_table

    run(fit_table, options)


@command(
    epilog="Example: bochner predict houses.bochner new.csv --interval 90 --out predictions.csv"
)
def predict(
    model: o.ModelFile,
    file: o.TableFile,
    interval: o.Interval = None,
    quantiles: o.Quantiles = None,
    keep: o.Keep = "id",
    missing: o.Missing = None,
    skip: o.Skip = None,
    encoding: o.Encoding = None,
    bad_lines: o.BadLines = "error",
    table: o.TableName = None,
    out: o.CsvOut = None,
    safe_csv: o.SafeCsv = False,
) -> None:
    """Predict the target for every row of a table; for classes, with their probabilities.

    Errors are reported for rows whose target is in the table.
    """
    options = SimpleNamespace(**locals())
    check_model_file(model)
    find(file)
    from bochner.cli.predicting import predict_table

    run(predict_table, options)


@command(epilog="Example: bochner evaluate houses.bochner sold.csv --group region")
def evaluate(
    model: o.ModelFile,
    file: o.TableFile,
    group: o.ErrorGroup = None,
    missing: o.Missing = None,
    skip: o.Skip = None,
    encoding: o.Encoding = None,
    bad_lines: o.BadLines = "error",
    table: o.TableName = None,
    report: o.Report = None,
    as_json: o.Json = False,
) -> None:
    """Measure errors and calibration of a model on a table with known targets."""
    options = SimpleNamespace(**locals())
    check_model_file(model)
    find(file)
    from bochner.cli.predicting import evaluate_table

    run(evaluate_table, options)


@command(epilog="Example: bochner explain houses.bochner new.csv --row 1")
def explain(
    model: o.ModelFile,
    file: Annotated[
        Path | None,
        typer.Argument(
            help="Table whose predictions are explained; without it, the model file is shown.",
            allow_dash=True,
        ),
    ] = None,
    row: o.RowNumbers = None,
    column: o.EffectColumn = None,
    missing: o.Missing = None,
    skip: o.Skip = None,
    encoding: o.Encoding = None,
    bad_lines: o.BadLines = "error",
    table: o.TableName = None,
    out: o.ContributionsOut = None,
    plot: o.Plot = None,
    as_json: o.Json = False,
) -> None:
    """Show what a model file holds, the effect of one column, or the reasons for predictions.

    Without a table: data, errors, kernels, important columns and interactions of the model.

    With a table and --row: Shapley values, the contributions of the columns to a prediction.
    """
    options = SimpleNamespace(**locals())
    check_model_file(model)
    if file is not None:
        find(file)
    elif not (row or column or out or plot or as_json):
        from bochner.cli.stored_summary import print_stored

        if print_stored(model):
            return
    from bochner.cli.explaining import explain_model

    run(explain_model, options)


@command(
    epilog="Example: bochner forecast sales.csv --target sales --horizon 24 --report sales.html"
)
def forecast(
    file: o.TableFile,
    target: o.SeriesTarget,
    time: o.SeriesTime = None,
    horizon: o.Horizon = None,
    series: o.SeriesName = None,
    known: o.Known = None,
    future: o.Future = None,
    holidays: o.Holidays = None,
    interval: o.Level = 0.9,
    compare: o.Origins = True,
    decimal: o.Decimal = "auto",
    dates: o.Dates = "auto",
    types: o.Types = None,
    missing: o.Missing = None,
    skip: o.Skip = None,
    header: o.Header = None,
    encoding: o.Encoding = None,
    fill_down: o.FillDown = None,
    bad_lines: o.BadLines = "error",
    table: o.TableName = None,
    out: o.ForecastOut = Path("forecast.csv"),
    report: o.Report = None,
    model: o.SeriesModel = None,
    as_json: o.Json = False,
) -> None:
    """Forecast series in the rows of a table, with intervals and errors on their last values."""
    options = SimpleNamespace(**locals())
    find(file)
    from bochner.cli.forecasting import forecast_table

    run(forecast_table, options)


@command(epilog="Example: bochner diagnose houses.csv --kernel tl1 --target price")
def diagnose(file: o.TableFile, kernel: o.Kernel, target: o.LeftOut = None) -> None:
    """Analyse a kernel on a table: definiteness, error of its features, and which model to use."""
    find(file)
    from bochner.cli.diagnosing import diagnose_table

    run(diagnose_table, file, kernel, target or ())


@command(epilog="Example: bochner demo --out demo")
def demo(out: o.Folder = Path("demo")) -> None:
    """Fit a model of life expectancy, predict with it, and write its table, model and report."""
    from bochner.cli.demo import run_demo

    run(run_demo, out, partial(app, standalone_mode=False))
