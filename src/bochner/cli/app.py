"""The commands and their options."""

from pathlib import Path
from typing import Annotated

import pandas as pd  # noqa: F401  (imported here so that a missing extra is noticed at once)
import typer
from rich.console import Console

from bochner import __version__
from bochner.cli.demo import run_demo
from bochner.cli.demo_table import run_table
from bochner.cli.diagnosing import diagnose_table
from bochner.cli.evaluating import EvaluateOptions, evaluate_table
from bochner.cli.explaining import ExplainOptions, explain_table
from bochner.cli.fitting import FitOptions, fit_table
from bochner.cli.inspecting import inspect_model
from bochner.cli.options import (
    MODEL,
    OUTPUT,
    READING,
    ROWS,
    Dropped,
    Json,
    ModelFile,
    Quiet,
    Report,
    Seed,
    TableFile,
    TableName,
)
from bochner.cli.planning import PlanOptions, plan_table
from bochner.cli.predicting import PredictOptions, interval_option, predict_table
from bochner.cli.refusals import Commands, refusals
from bochner.diagnosis.diagnosis import MOST_ROWS
from bochner.tables.reading import ReadOptions, read_types

app = typer.Typer(
    name="bochner",
    cls=Commands,
    help="Kernel machines and Gaussian processes for tables: predictions with intervals.",
    epilog="Example: bochner fit houses.csv --target price --report houses.html",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)


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


@app.command(epilog="Example: bochner fit houses.csv --target price --report houses.html")
def fit(
    file: TableFile,
    target: Annotated[
        list[str], typer.Option(help="Column to predict; repeat for several columns of numbers.")
    ],
    task: Annotated[str, typer.Option(help="auto, regression or classification.")] = "auto",
    weight: Annotated[
        str | None, typer.Option(help="Column of the rows' weights, not used as a feature.")
    ] = None,
    id: Annotated[
        str | None,
        typer.Option(help="Column that names rows: no feature, and copied to the predictions."),
    ] = None,
    drop: Dropped = None,
    split: Annotated[
        str,
        typer.Option(
            help="auto, random, time (the latest rows) or group (whole groups). auto takes the "
            "latest rows if a column of dates sorts the table.",
            rich_help_panel=ROWS,
        ),
    ] = "auto",
    time: Annotated[
        str | None,
        typer.Option(help="Column of times: errors are those of later rows.", rich_help_panel=ROWS),
    ] = None,
    group: Annotated[
        str | None,
        typer.Option(
            help="Column of groups, not used as a feature: errors are those of new groups.",
            rich_help_panel=ROWS,
        ),
    ] = None,
    test_size: Annotated[
        float,
        typer.Option(help="Share of rows or groups held out for testing.", rich_help_panel=ROWS),
    ] = 0.2,
    method: Annotated[
        str,
        typer.Option(
            help="auto: a weighted sum of Gaussian processes. learned: kernels learned by sampling "
            "frequencies. fixed: random features of one kernel.",
            rich_help_panel=MODEL,
        ),
    ] = "auto",
    effort: Annotated[
        str, typer.Option(help="quick, default or thorough.", rich_help_panel=MODEL)
    ] = "default",
    time_limit: Annotated[
        float | None,
        typer.Option(
            help="Seconds after which no further kernel or sample begins.", rich_help_panel=MODEL
        ),
    ] = None,
    n_jobs: Annotated[
        int | None,
        typer.Option(help="Number of threads, -1 for all cores.", rich_help_panel=MODEL),
    ] = None,
    interval: Annotated[
        float,
        typer.Option(
            help="Level of the prediction intervals that are tested, such as 0.9 or 90.",
            rich_help_panel=MODEL,
        ),
    ] = 0.9,
    seed: Seed = 0,
    decimal: Annotated[
        str,
        typer.Option(help="Decimal mark: auto, . or ,", rich_help_panel=READING),
    ] = "auto",
    dates: Annotated[
        str,
        typer.Option(
            help="Order of dates: auto, iso, dayfirst, monthfirst, or none for no dates.",
            rich_help_panel=READING,
        ),
    ] = "auto",
    types: Annotated[
        Path | None,
        typer.Option(
            help="CSV (column,type) or JSON file with the kind of some columns: number, text, "
            "date or ignore.",
            rich_help_panel=READING,
        ),
    ] = None,
    table: TableName = None,
    out: Annotated[Path, typer.Option(help="Model file to write.", rich_help_panel=OUTPUT)] = Path(
        "model.bochner"
    ),
    report: Report = None,
    compare: Annotated[
        bool,
        typer.Option(help="Also fit other methods for comparison.", rich_help_panel=OUTPUT),
    ] = True,
    as_json: Json = False,
    quiet: Quiet = False,
    verbose: Annotated[
        bool,
        typer.Option("--verbose", help="Also print all columns.", rich_help_panel=OUTPUT),
    ] = False,
) -> None:
    """Fit a model to a table, test it on held-out rows next to other methods, and save it."""
    with refusals():
        kinds = {} if types is None else read_types(types)
        options = FitOptions(
            target=target,
            task=task,
            method=method,
            effort=effort,
            time_limit=time_limit,
            n_jobs=n_jobs,
            weight=weight,
            id=id,
            drop=tuple(drop or ()),
            split=split,
            time=time,
            group=group,
            test_size=test_size,
            interval=interval_option(interval),
            seed=seed,
            compare=compare,
            read=ReadOptions(decimal=decimal, dates=dates, types=kinds, table=table),
            out=out,
            report=report,
            as_json=as_json,
            quiet=quiet,
            verbose=verbose,
        )
        fit_table(file, options, Console())


@app.command(
    epilog="Example: bochner predict houses.bochner new.csv --interval 90 --out predictions.csv"
)
def predict(
    model: ModelFile,
    file: TableFile,
    std: Annotated[
        bool, typer.Option("--std", help="Add the predictive standard deviation, including noise.")
    ] = False,
    interval: Annotated[
        float | None,
        typer.Option(help="Add prediction intervals of this level, such as 90 or 0.9."),
    ] = None,
    quantiles: Annotated[
        str | None, typer.Option(help="Add quantiles of these levels, such as 10,50,90.")
    ] = None,
    keep: Annotated[
        str, typer.Option(help="Columns of the table to copy: none, id or all.")
    ] = "id",
    table: TableName = None,
    out: Annotated[
        Path | None, typer.Option(help="CSV file to write; - is standard output, as by default.")
    ] = None,
    quiet: Quiet = False,
) -> None:
    """Predict the target for every row of a table; for classes, with their probabilities.

    Errors are reported for rows whose target is in the table.
    """
    with refusals():
        level = None if interval is None else interval_option(interval)
        extra = PredictOptions(std, level, quantiles, keep, table, quiet)
        predict_table(model, file, extra, out, Console(stderr=True, soft_wrap=True))


@app.command(epilog="Example: bochner evaluate houses.bochner sold.csv --group region")
def evaluate(
    model: ModelFile,
    file: TableFile,
    group: Annotated[
        str | None, typer.Option(help="Column of groups whose errors are shown one by one.")
    ] = None,
    interval: Annotated[
        float | None,
        typer.Option(help="Level of the prediction intervals; by default that of the fit."),
    ] = None,
    table: TableName = None,
    report: Report = None,
    as_json: Json = False,
) -> None:
    """Measure errors and calibration of a model on a table with known targets."""
    with refusals():
        options = EvaluateOptions(
            group=group,
            interval=None if interval is None else interval_option(interval),
            table=table,
            report=report,
            as_json=as_json,
        )
        evaluate_table(model, file, options, Console())


@app.command(epilog="Example: bochner explain houses.bochner new.csv --row 1")
def explain(
    model: ModelFile,
    file: TableFile,
    row: Annotated[
        list[int] | None,
        typer.Option(min=1, help="Row whose prediction is explained, from 1; repeat for more."),
    ] = None,
    seed: Seed = 0,
    table: TableName = None,
    out: Annotated[
        Path | None,
        typer.Option(
            help="CSV file for the contributions to all predictions, or to those of --row.",
            rich_help_panel=OUTPUT,
        ),
    ] = None,
    as_json: Json = False,
) -> None:
    """Show how columns change predictions: on average, or the Shapley values of single rows."""
    with refusals():
        options = ExplainOptions(
            rows=tuple(row or ()), seed=seed, table=table, out=out, as_json=as_json
        )
        explain_table(model, file, options, Console())


@app.command(epilog="Example: bochner inspect houses.bochner")
def inspect(model: Annotated[Path, typer.Argument(help="Model file.")]) -> None:
    """Show what a model file holds: data, errors, kernels and the columns that matter."""
    with refusals():
        inspect_model(model, Console())


@app.command(epilog="Example: bochner diagnose houses.csv --kernel tl1 --target price")
def diagnose(
    file: TableFile,
    kernel: Annotated[str, typer.Option(help="A kernel's name, such as gaussian, tl1 or ntk.")],
    target: Annotated[
        list[str] | None, typer.Option(help="Column to predict, to be left out.")
    ] = None,
    drop: Dropped = None,
    rows: Annotated[
        int, typer.Option(min=2, max=MOST_ROWS, help="Number of rows to use.")
    ] = MOST_ROWS,
    seed: Seed = 0,
) -> None:
    """Analyse a kernel on a table: its definiteness, the error of its features, what to use."""
    with refusals():
        left_out = [*(target or ()), *(drop or ())]
        diagnose_table(file, kernel, left_out, rows, seed, Console())


@app.command(epilog="Example: bochner plan houses.csv --target price --rows 1e9 --workers 100")
def plan(
    file: TableFile,
    target: Annotated[
        list[str] | None, typer.Option(help="Column to predict; repeat for several.")
    ] = None,
    drop: Dropped = None,
    rows: Annotated[
        float | None,
        typer.Option(help="Rows of the fit, such as 1e9; by default those of the table."),
    ] = None,
    workers: Annotated[
        int, typer.Option(min=1, help="Workers of a cluster, each with one thread.")
    ] = 1,
    features: Annotated[
        int, typer.Option(min=2, help="Random features of ridge regression and method fixed.")
    ] = 1024,
    effort: Annotated[str, typer.Option(help="quick, default or thorough.")] = "default",
    memory: Annotated[
        str | None,
        typer.Option(help="Memory of a worker, such as 8GB: shows which fits stay within it."),
    ] = None,
    network: Annotated[
        str, typer.Option(help="What a worker sends and receives in a second.")
    ] = "100MB",
    table: TableName = None,
    as_json: Json = False,
) -> None:
    """Predict seconds, memory and bytes moved of fits to a table, or to more rows like it."""
    with refusals():
        options = PlanOptions(
            target=tuple(target or ()),
            drop=tuple(drop or ()),
            rows=rows,
            workers=workers,
            features=features,
            effort=effort,
            memory=memory,
            network=network,
            table=table,
            as_json=as_json,
        )
        plan_table(file, options, Console())


@app.command(epilog="Example: bochner demo --out demo")
def demo(
    out: Annotated[Path, typer.Option(help="Folder for the files to write.")] = Path("demo"),
    seed: Seed = 0,
) -> None:
    """Fit a model to the weather of Seattle, and forecast carbon dioxide for ten years."""
    with refusals():
        run_table(out, seed, Console())
        run_demo(out, seed, Console())
