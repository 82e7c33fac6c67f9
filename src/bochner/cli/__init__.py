"""The command line interface ``bochner``."""

import os
import sys
from io import TextIOWrapper

_INTERRUPTED = 130
"""Exit code that typer uses for an interrupted command."""


def main() -> None:
    """Run the command ``bochner``, and end the process."""
    if isinstance(sys.stdout, TextIOWrapper):  # Else it is closed, or another program's
        sys.stdout.reconfigure(errors="backslashreplace")  # ASCII lacks many characters
    try:
        from bochner.cli.app import app
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] == "bochner":
            raise
        extra = "pip install 'bochner[cli]', or pip install '.[cli]' in a clone"
        print(f"The command line needs {error.name}: {extra}", file=sys.stderr)
        raise SystemExit(2) from None
    try:
        app()
    except SystemExit as stop:
        if stop.code == _INTERRUPTED and sys.stderr is not None:
            print("Aborted.", file=sys.stderr)
        for stream in filter(None, (sys.stdout, sys.stderr)):  # None if closed
            stream.flush()
        # Exit at once: a pyarrow thread that still reads ahead would abort Python during shutdown.
        os._exit(stop.code if isinstance(stop.code, int) else stop.code is not None)
