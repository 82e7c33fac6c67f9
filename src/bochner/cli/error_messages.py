"""Errors about the input become one message and an exit code."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout
from typing import Any, NoReturn

import typer
import typer.core
from rich.console import Console
from rich.text import Text

from bochner.cli.output import NamedOutput, plain

_INVALID = (ValueError, TypeError, OSError, MemoryError, NotImplementedError)


def _without_types(params: list[Any]) -> list[Any]:
    """Let help show no type next to flags, which take no value."""
    for param in params:
        if getattr(param, "is_flag", False) and param.metavar is None:
            param.metavar = ""
    return params


class Command(typer.core.TyperCommand):
    """A command whose help shows the types of values only."""

    def get_params(self, ctx: Any) -> list[Any]:
        return _without_types(super().get_params(ctx))


class Commands(typer.core.TyperGroup):
    """The commands, whose help and version treat closed output as their results do."""

    def get_params(self, ctx: Any) -> list[Any]:
        return _without_types(super().get_params(ctx))

    def make_context(self, *args: Any, **kwargs: Any) -> Any:
        with refusals():
            return super().make_context(*args, **kwargs)
        raise typer.Exit

    def invoke(self, ctx: Any) -> Any:
        with refusals():
            return super().invoke(ctx)


@contextmanager
def refusals() -> Iterator[None]:
    """Turn errors about the input into one message and exit code 2."""
    if sys.stdout is None:
        _refuse("standard output is closed: send it to a file, or to /dev/null.")
    try:
        try:
            with redirect_stdout(NamedOutput(sys.stdout)):
                try:
                    yield
                finally:
                    sys.stdout.flush()
        except SystemExit as stop:
            # rich raises this for a closed pipe; commands raise `typer.Exit`.
            raise BrokenPipeError from stop
    except BrokenPipeError:
        # The reader, such as `| head`, closed the pipe, so nothing more can be written.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except _INVALID as error:
        if os.environ.get("BOCHNER_DEBUG"):
            raise
        _refuse(str(error))


def _refuse(reason: str) -> NoReturn:
    """Print the error, and exit."""
    text = Text(plain(f"bochner: {reason}"), style="red")
    Console(stderr=True, soft_wrap=True).print(text)
    raise typer.Exit(2) from None
