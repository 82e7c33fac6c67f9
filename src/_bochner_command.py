"""The command ``bochner`` before it imports the library, so that Ctrl-C always ends it in a line.

It is no part of the package, whose import takes a second or two in which Python itself would answer
an interrupt, with a traceback.
"""

import os
import signal
from typing import Any

_INTERRUPTED = 130
"""The code of shells for a command that was interrupted: 128 and the number of the signal."""


def _stop(*_: Any) -> None:
    os.write(2, b"Aborted.\n")
    os._exit(_INTERRUPTED)


def main() -> None:
    """Run the command."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # Unless it is ignored
        signal.signal(signal.SIGINT, _stop)
    from bochner.cli import main as command

    command()
