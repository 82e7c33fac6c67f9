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
from bochner.cli.fitting import FitOptions, Model, fit_table
from bochner.cli.inspecting import inspect_model, predict_table
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
    model: Annotated[
        str,
        typer.Option(
            help="bank: learn a kernel. gabasr: learn a kernel that varies with the inputs. "
            "fourier: choose a fixed kernel."
        ),
    ] = "bank",
    task: Annotated[str, typer.Option(help="auto, regression or classification.")] = "auto",
    test_size: Annotated[float, typer.Option(help="Share of rows held out for testing.")] = 0.2,
    seed: Seed = 0,
    out: Annotated[Path, typer.Option(help="Model file to write.")] = Path("model.bochner"),
    drop: Dropped = None,
    compare: Annotated[bool, typer.Option(help="Also fit other methods for comparison.")] = True,
    pictures: Annotated[
        Path | None, typer.Option(help="bank, gabasr: folder for pictures of the kernel.")
    ] = None,
    n_frequencies: Annotated[
        int | None, typer.Option(min=1, help="bank, gabasr: frequencies.  [default: 200]")
    ] = None,
    n_burn_in: Annotated[
        int | None, typer.Option(min=0, help="bank, gabasr: burn-in iterations.  [default: 100]")
    ] = None,
    n_samples: Annotated[
        int | None, typer.Option(min=1, help="bank, gabasr: kept iterations.  [default: 100]")
    ] = None,
    time_limit: Annotated[
        float | None,
        typer.Option(
            min=0.0, help="bank, gabasr: time limit in seconds, 0 for none.  [default: 120]"
        ),
    ] = None,
    trend: Annotated[
        int | None,
        typer.Option(min=0, max=2, help="bank, gabasr: degree of a trend.  [default: 0]"),
    ] = None,
    kernel: Annotated[
        str | None,
        typer.Option(
            help="fourier: auto, gaussian, matern, anova, or the name of another kernel.  "
            "[default: auto]"
        ),
    ] = None,
    n_components: Annotated[
        int | None, typer.Option(help="fourier: number of real features, even.  [default: 1024]")
    ] = None,
) -> None:
    """Fit a model to a table, compare it with other methods on held-out rows, and save it."""
    with _refusals():
        given = {
            "n_frequencies": n_frequencies,
            "n_burn_in": n_burn_in,
            "n_samples": n_samples,
            "time_limit": time_limit,
            "trend": trend,
            "kernel": kernel,
            "n_components": n_components,
        }
        kind, dropped = Model(model, given), tuple(drop or ())
        options = FitOptions(target, kind, task, test_size, seed, out, dropped, compare, pictures)
        fit_table(file, options, Console())


@app.command()
def predict(
    model: Annotated[Path, typer.Argument(help="Model file that `bochner fit` wrote.")],
    file: Annotated[Path, typer.Argument(help="Table with the columns of the training table.")],
    std: Annotated[
        bool, typer.Option("--std", help="Add the predictive standard deviation, including noise.")
    ] = False,
    out: Annotated[
        Path | None, typer.Option(help="CSV file to write instead of standard output.")
    ] = None,
) -> None:
    """Predict the target for every row of a table."""
    with _refusals():
        predict_table(model, file, with_std=std, out=out)


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
