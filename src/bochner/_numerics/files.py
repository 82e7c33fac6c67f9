"""Files that are written whole or not at all."""

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Yield ``NAME.TOKEN.partial`` to write, which replaces ``path`` only if the block succeeds."""
    fresh = path.with_name(f"{path.name}.{secrets.token_hex(8)}.partial")
    try:
        yield fresh
        with fresh.open("rb+") as file:
            os.fsync(file.fileno())
        os.replace(fresh, path)
    finally:
        fresh.unlink(missing_ok=True)
