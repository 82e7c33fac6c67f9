"""The command line: arguments in, one function call, tables out."""

import signal
import sys


def main() -> None:
    """Run the command ``bochner``."""
    try:
        from bochner.cli.app import app
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] == "bochner":
            raise
        print(f"The command line needs {error.name}: pip install 'bochner[cli]'", file=sys.stderr)
        raise SystemExit(2) from None
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)  # All is imported
    app()
