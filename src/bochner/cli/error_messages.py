"""Errors about the input as one message and an exit code, and interrupts of a command."""

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

import typer
import typer.core
from rich.console import Console
from rich.text import Text

from bochner.cli.output import plain

_INVALID = (ValueError, TypeError, OSError, MemoryError, NotImplementedError)

_ENTRY = "_bochner_command"
"""Module whose handler ends the process at once, because Python cannot leave every import."""


def all_is_imported() -> None:
    """Let Ctrl-C raise KeyboardInterrupt from now on, if the handler of the entry point is set."""
    if getattr(signal.getsignal(signal.SIGINT), "__module__", "") == _ENTRY:
        signal.signal(signal.SIGINT, signal.default_int_handler)


class _TypesOfValues:
    """Lets help show no type next to flags, which take no value."""

    def get_params(self, ctx: Any) -> list[Any]:
        params: list[Any] = super().get_params(ctx)  # type: ignore[misc]
        for param in params:
            if getattr(param, "is_flag", False) and param.metavar is None:
                param.metavar = ""
        return params


class Command(_TypesOfValues, typer.core.TyperCommand):
    """A command whose help shows the types of values only."""


class Commands(_TypesOfValues, typer.core.TyperGroup):
    """The commands, whose errors about the input are refusals, help and version included."""

    def make_context(self, info_name: Any, args: Any, *more: Any, **extra: Any) -> Any:
        words = ["bochner", *args]
        with refusals():
            context = super().make_context(info_name, args, *more, **extra)
            context.obj = words
            return context
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
