"""The commands and their options.

Each command imports what it needs when it runs, and looks for its files before, so that help, wrong
options and wrong names of files take no seconds.
"""

from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from bochner import __version__
from bochner._base.file_writing import check_model_file
from bochner._base.limits import MOST_DIAGNOSED
from bochner.cli.error_messages import Command, Commands, refusals
from bochner.cli.fit_options import FitOptions
from bochner.cli.forecast_options import ForecastOptions
from bochner.cli.interrupts import all_is_imported
from bochner.cli.model_options import EvaluateOptions, ExplainOptions, PredictOptions
from bochner.cli.options import Dropped, ModelFile, Seed, TableFile, with_options
from bochner.files.text_files import find

if find_spec("pandas") is None:  # So that a missing extra is noticed at once
    raise ModuleNotFoundError("No module named 'pandas'", name="pandas")

app = typer.Typer(
    name="bochner",
    cls=Commands,
    help="Kernel machines and Gaussian processes for tables: predictions with intervals.",
    epilog="Example: bochner fit houses.csv --target price --report houses.html",
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
@with_options(FitOptions)
def fit(file: TableFile, options: FitOptions) -> None:
    """Fit a model to a table, test it on held-out rows next to other methods, and save it."""
    with refusals():
        find(file)
        from bochner.cli.fitting import fit_table

        all_is_imported()
        fit_table(file, options, Console())


@command(
    epilog="Example: bochner predict houses.bochner new.csv --interval 90 --out predictions.csv"
)
@with_options(PredictOptions)
def predict(model: ModelFile, file: TableFile, options: PredictOptions) -> None:
    """Predict the target for every row of a table; for classes, with their probabilities.

    Errors are reported for rows whose target is in the table.
    """
    with refusals():
        check_model_file(model)
        find(file)
        from bochner.cli.predicting import predict_table

        all_is_imported()
        predict_table(model, file, options, Console(stderr=True, soft_wrap=True))


@command(epilog="Example: bochner evaluate houses.bochner sold.csv --group region")
@with_options(EvaluateOptions)
def evaluate(model: ModelFile, file: TableFile, options: EvaluateOptions) -> None:
    """Measure errors and calibration of a model on a table with known targets."""
    with refusals():
        check_model_file(model)
        find(file)
        from bochner.cli.evaluating import evaluate_table

        all_is_imported()
        evaluate_table(model, file, options, Console())


@command(epilog="Example: bochner explain houses.bochner new.csv --row 1")
@with_options(ExplainOptions)
def explain(model: ModelFile, file: TableFile, options: ExplainOptions) -> None:
    """Show how columns change predictions: on average, or the Shapley values of single rows."""
    with refusals():
        check_model_file(model)
        find(file)
        from bochner.cli.explaining import explain_table

        all_is_imported()
        explain_table(model, file, options, Console())


@command(
    epilog="Example: bochner forecast sales.csv --target sales --horizon 24 --report sales.html"
)
@with_options(ForecastOptions)
def forecast(file: TableFile, options: ForecastOptions) -> None:
    """Forecast series in the rows of a table, with intervals and errors on their last values."""
    with refusals():
        find(file)
        from bochner.cli.forecasting import forecast_table

        all_is_imported()
        forecast_table(file, options, Console())


@command(epilog="Example: bochner inspect houses.bochner")
def inspect(model: Annotated[Path, typer.Argument(help="Model file.")]) -> None:
    """Show the content of a model file: data, errors, kernels and important columns."""
    with refusals():
        check_model_file(model)
        from bochner.cli.inspecting import inspect_model

        all_is_imported()
        inspect_model(model, Console())


@command(epilog="Example: bochner diagnose houses.csv --kernel tl1 --target price")
def diagnose(
    file: TableFile,
    kernel: Annotated[str, typer.Option(help="A kernel's name, such as gaussian, tl1 or ntk.")],
    target: Annotated[
        list[str] | None, typer.Option(help="Column to predict, to be left out.")
    ] = None,
    drop: Dropped = None,
    rows: Annotated[
        int, typer.Option(min=2, max=MOST_DIAGNOSED, help="Number of rows to use.")
    ] = MOST_DIAGNOSED,
    seed: Seed = 0,
) -> None:
    """Analyse a kernel on a table: definiteness, error of its features, and which model to use."""
    with refusals():
        find(file)
        from bochner.cli.diagnosing import diagnose_table

        all_is_imported()
        left_out = [*(target or ()), *(drop or ())]
        diagnose_table(file, kernel, left_out, rows, seed, Console())


@command(epilog="Example: bochner demo --out demo")
def demo(
    out: Annotated[Path, typer.Option(help="Folder for the files to write.")] = Path("demo"),
    seed: Seed = 0,
) -> None:
    """Fit a model to the weather of Seattle, and forecast carbon dioxide for ten years."""
    with refusals():
        from bochner.cli.demo import run_demo
        from bochner.cli.demo_table import run_table

        all_is_imported()
        run_table(out, seed, Console())
        run_demo(out, seed, Console())
