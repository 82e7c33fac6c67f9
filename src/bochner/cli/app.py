"""The commands and their options."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import pandas as pd  # noqa: F401  (imported here so that a missing extra is noticed at once)
import typer
from rich.console import Console

from bochner.cli.demo import run_demo
from bochner.cli.diagnosing import diagnose_table
from bochner.cli.fitting import FitOptions, fit_table
from bochner.cli.inspecting import inspect_model
from bochner.cli.predicting import PredictOptions, predict_table
from bochner.diagnosis.diagnosis import MOST_ROWS

app = typer.Typer(
    name="bochner",
    help="Random Fourier features for every kernel.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    add_completion=False,
)

_INVALID = (ValueError, TypeError, OSError, MemoryError, NotImplementedError)
_LARGEST_SEED = 2**32 - 1
"""Largest seed that scikit-learn's ``random_state`` accepts."""

Seed = Annotated[
    int, typer.Option(min=0, max=_LARGEST_SEED, help="Random seed of splits and samplers.")
]
TableFile = Annotated[Path, typer.Argument(help="Table: .csv, .csv.gz, .tsv or .parquet.")]
Dropped = Annotated[
    list[str] | None, typer.Option("--drop", help="Column to leave out; repeat for more.")
]


@contextmanager
def _refusals() -> Iterator[None]:
    """Turn errors about the input into one message and exit code 2."""
    try:
        yield
    except BrokenPipeError:
        # The reader of the output has closed it, as `| head` does. Nothing more can be written.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except _INVALID as error:
        if os.environ.get("BOCHNER_DEBUG"):
            raise
        Console(stderr=True, soft_wrap=True).print(f"bochner: {error}", style="red", markup=False)
        raise typer.Exit(2) from None


@app.command()
def fit(
    file: TableFile,
    target: Annotated[list[str], typer.Option(help="Column to predict.")],
    task: Annotated[str, typer.Option(help="auto, regression or classification.")] = "auto",
    method: Annotated[
        str,
        typer.Option(
            help="auto: a sum of kernels. learned: frequencies learned by sampling. fixed: random "
            "features of one kernel."
        ),
    ] = "auto",
    effort: Annotated[str, typer.Option(help="quick, default or thorough.")] = "default",
    time_limit: Annotated[
        float | None, typer.Option(help="Seconds after which no further kernel or sample begins.")
    ] = None,
    n_jobs: Annotated[int | None, typer.Option(help="Number of threads, -1 for all cores.")] = None,
    weight: Annotated[
        str | None, typer.Option(help="Column of the rows' weights, no feature.")
    ] = None,
    group: Annotated[
        str | None,
        typer.Option(help="Column of groups, no feature: errors are those of new groups."),
    ] = None,
    time: Annotated[
        str | None, typer.Option(help="Column of times, a feature: errors are those of later rows.")
    ] = None,
    test_size: Annotated[
        float, typer.Option(help="Share of rows or groups held out for testing.")
    ] = 0.2,
    seed: Seed = 0,
    out: Annotated[Path, typer.Option(help="Model file to write.")] = Path("model.bochner"),
    drop: Dropped = None,
    compare: Annotated[bool, typer.Option(help="Also fit other methods for comparison.")] = True,
    pictures: Annotated[
        Path | None, typer.Option(help="Folder for pictures of effects and of predictions.")
    ] = None,
) -> None:
    """Fit a model to a table, compare it with other methods on held-out rows, and save it."""
    with _refusals():
        options = FitOptions(
            target=target,
            task=task,
            method=method,
            effort=effort,
            time_limit=time_limit,
            n_jobs=n_jobs,
            weight=weight,
            group=group,
            time=time,
            test_size=test_size,
            seed=seed,
            out=out,
            drop=tuple(drop or ()),
            compare=compare,
            pictures=pictures,
        )
        fit_table(file, options, Console())


@app.command()
def predict(
    model: Annotated[Path, typer.Argument(help="Model file that `bochner fit` wrote.")],
    file: Annotated[Path, typer.Argument(help="Table with the columns of the training table.")],
    std: Annotated[
        bool, typer.Option("--std", help="Add the predictive standard deviation, including noise.")
    ] = False,
    interval: Annotated[
        float | None, typer.Option(help="Add prediction intervals of this level, such as 0.9.")
    ] = None,
    quantiles: Annotated[
        str | None, typer.Option(help="Add quantiles of these levels, such as 0.1,0.5,0.9.")
    ] = None,
    out: Annotated[
        Path | None, typer.Option(help="CSV file to write instead of standard output.")
    ] = None,
) -> None:
    """Predict the target for every row of a table; for classes, with their probabilities."""
    with _refusals():
        extra = PredictOptions(std, interval, quantiles)
        predict_table(model, file, extra, out)


@app.command()
def inspect(model: Annotated[Path, typer.Argument(help="Model file.")]) -> None:
    """Show the contents of a model file."""
    with _refusals():
        inspect_model(model, Console())


@app.command()
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
    with _refusals():
        left_out = [*(target or ()), *(drop or ())]
        diagnose_table(file, kernel, left_out, rows, seed, Console())


@app.command()
def demo(
    out: Annotated[Path, typer.Option(help="Folder for the picture and the model.")] = Path("demo"),
    n_frequencies: Annotated[int, typer.Option(min=1, help="Number of frequencies.")] = 40,
    n_chains: Annotated[int, typer.Option(min=1, help="Number of chains for each trend.")] = 12,
    seed: Seed = 0,
) -> None:
    """Learn a kernel from carbon dioxide at Mauna Loa, and forecast ten years with intervals."""
    with _refusals():
        run_demo(out, n_frequencies, n_chains, seed, Console())
