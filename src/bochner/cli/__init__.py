"""The command line: arguments in, one function call, tables out."""

import os
import sys

from bochner.cli.process_start import note_start

_INTERRUPTED = 130
"""The code with which typer ends a command that was interrupted, without a message."""


def main() -> None:
    """Run the command ``bochner``, and end the process."""
    note_start()
    try:
        from bochner.cli.app import app
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] == "bochner":
            raise
        print(f"The command line needs {error.name}: pip install 'bochner[cli]'", file=sys.stderr)
        raise SystemExit(2) from None
    try:
        app()
    except SystemExit as stop:
        if stop.code == _INTERRUPTED and sys.stderr is not None:
            print("Aborted.", file=sys.stderr)
        for stream in filter(None, (sys.stdout, sys.stderr)):  # None for one that is closed
            stream.flush()
        # At once: a thread in which pyarrow still reads ahead would abort Python while it ends.
        os._exit(stop.code if isinstance(stop.code, int) else stop.code is not None)
