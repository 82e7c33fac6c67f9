"""Interrupts of a command, which imports what it needs after its arguments are read."""

import signal

ENTRY = "_bochner_command"
"""Module whose handler ends the process at once, because Python cannot leave every import."""


def all_is_imported() -> None:
    """Let Ctrl-C raise KeyboardInterrupt from now on, if the handler of the entry point is set."""
    if getattr(signal.getsignal(signal.SIGINT), "__module__", "") == ENTRY:
        signal.signal(signal.SIGINT, signal.default_int_handler)
