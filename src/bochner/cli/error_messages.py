"""Handling of input errors, as one message and an exit code, and of interrupts."""

import os
import signal
import sys
import warnings
from _thread import interrupt_main
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Timer, current_thread, main_thread
from typing import Any, NoReturn, cast

import typer
import typer.core
from rich.console import Console
from rich.text import Text

from bochner._base.names import nearest
from bochner.cli.output import plain

_INVALID = (ValueError, TypeError, OSError, MemoryError, NotImplementedError, ImportError)

_ENTRY = "_bochner_command"
"""Module whose Ctrl-C handler ends the process at once, even during an import."""

_ENDING = [name for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name)]  # Not on Windows
_OF_SIGNALS = 128  # Added to the number of a signal in exit codes, as in shells
INTERRUPTED = _OF_SIGNALS + signal.SIGINT
"""Exit code of a command that Ctrl-C stopped, also of typer."""
_AFTER_FINALISER = 0.01  # Seconds; a signal that reaches another finaliser is sent once more


def run(function: Callable[..., None], *arguments: Any) -> None:
    """Call a function that is imported, while signals raise exceptions, so that it cleans up."""
    if getattr(signal.getsignal(signal.SIGINT), "__module__", "") == _ENTRY:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    for name in _ENDING if current_thread() is main_thread() else ():
        if signal.getsignal(number := getattr(signal, name)) is signal.SIG_DFL:
            signal.signal(number, _end)
    function(*arguments)


def _end(number: int, _: object) -> NoReturn:
    raise SystemExit(_OF_SIGNALS + number)


def signal_again(lost: Any) -> None:
    """Send a signal again whose exception Python dropped, because it was raised in a finaliser."""
    if isinstance(lost.exc_value, KeyboardInterrupt | SystemExit):
        number = getattr(lost.exc_value, "code", INTERRUPTED) - _OF_SIGNALS
        Timer(_AFTER_FINALISER, interrupt_main, [number]).start()
    else:
        sys.__unraisablehook__(lost)


class _TypesOfValues:
    """Mixin that hides the type of flags in the help, because flags take no value."""

    def get_params(self, ctx: Any) -> list[Any]:
        params: list[Any] = super().get_params(ctx)  # type: ignore[misc]
        for param in params:
            if getattr(param, "is_flag", False) and param.metavar is None:
                param.metavar = ""
        return params


class Command(_TypesOfValues, typer.core.TyperCommand):
    """A command whose help shows types only for options that take a value."""

    def parse_args(self, ctx: Any, args: Any) -> Any:
        try:
            return super().parse_args(ctx, args)
        except Exception as problem:
            if hasattr(error := cast(Any, problem), "possibilities"):  # No such option
                names = [name.lstrip("-") for each in self.params for name in each.opts]
                near = nearest(error.option_name.lstrip("-"), names)
                error.possibilities = near and [f"--{near}"]
            raise


class Commands(_TypesOfValues, typer.core.TyperGroup):
    """The group of all commands, which turns input errors into one message and exit code 2."""

    def make_context(self, info_name: Any, args: Any, *more: Any, **extra: Any) -> Any:
        words = ["bochner", *args]
        with refusals():
            context = super().make_context(info_name, args, *more, **extra)
            context.obj = words
            return context
        raise typer.Exit

    def invoke(self, ctx: Any) -> Any:
        with refusals(), _warnings_in_lines():
            return super().invoke(ctx)


@contextmanager
def _warnings_in_lines() -> Iterator[None]:
    """Print each warning of the library as a line, and those of NumPy and others to debug only."""
    printed: set[str] = set()

    def show(message: Any, category: type[Warning], *place: Any, **more: Any) -> None:
        if category is UserWarning and str(message) not in printed:
            printed.add(str(message))
            Console(stderr=True, soft_wrap=True).print(Text(plain(f"Note: {message}")))

    with warnings.catch_warnings():
        if not os.environ.get("BOCHNER_DEBUG"):
            warnings.showwarning = show
        yield


@contextmanager
def refusals() -> Iterator[None]:
    """Turn errors about the input into one message and exit code 2."""
    if sys.stdout is None:
        _refuse("standard output is closed: send it to a file, or to /dev/null.")
    try:
        try:
            yield
        finally:
            sys.stdout.flush()
    except (BrokenPipeError, SystemExit) as stop:
        if getattr(stop, "code", 1) != 1:  # Of a signal; rich has 1 for a closed pipe
            raise
        # The reader, such as `| head`, closed the pipe, so nothing more can be written.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except ModuleNotFoundError as error:
        name = (error.name or "").partition(".")[0]
        if name in ("", "bochner") or os.environ.get("BOCHNER_DEBUG"):
            raise
        _refuse(f"{name} is not installed: pip install {name.replace('_', '-')}")
    except _INVALID as error:
        if os.environ.get("BOCHNER_DEBUG"):
            raise
        _refuse(str(error) or "the file is larger than the memory: give some of its rows.")


def _refuse(reason: str) -> NoReturn:
    """Print the error message and exit with code 2."""
    text = Text(plain(f"bochner: {reason}"), style="red")
    Console(stderr=True, soft_wrap=True).print(text)
    raise typer.Exit(2) from None
