"""The command line interface ``bochner``."""

import os
import signal
import sys
from io import TextIOWrapper


def main() -> None:
    """Run the command ``bochner``, and end the process."""
    # Before NumPy is imported: threads of OpenBLAS that wait for work leave the core to others.
    os.environ.setdefault("OPENBLAS_THREAD_TIMEOUT", "4")
    if isinstance(sys.stdout, TextIOWrapper):  # Else it is closed, or another program's
        sys.stdout.reconfigure(errors="backslashreplace")  # ASCII lacks many characters
    try:
        from bochner.cli.app import app
        from bochner.cli.error_messages import INTERRUPTED, signal_again
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] == "bochner":
            raise
        extra = "pip install 'bochner[cli]', or pip install '.[cli]' in a clone"
        print(f"The command line needs {error.name}: {extra}", file=sys.stderr)
        raise SystemExit(2) from None
    sys.unraisablehook = signal_again
    try:
        app()
    except (SystemExit, KeyboardInterrupt) as stop:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # Not a second time: the command ends
        code = getattr(stop, "code", INTERRUPTED)
        if code == INTERRUPTED and sys.stderr is not None:
            print("Aborted.", file=sys.stderr)
        for stream in filter(None, (sys.stdout, sys.stderr)):  # None if closed
            stream.flush()
        # Exit at once: a pyarrow thread that still reads ahead would abort Python during shutdown.
        os._exit(code if isinstance(code, int) else code is not None)
