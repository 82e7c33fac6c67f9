"""Measure the tests, and list those that ``make test`` leaves out because they take long.

    TEST_SECONDS=/tmp/seconds python -m pytest -n 2 -p tools.tiers
    python tools/tiers.py /tmp/seconds

The first command records the CPU seconds of each quick test and of the processes that it started;
add ``-m "not slow"`` to record all. The second writes ``tests/thorough_cases.txt``: tests of a
file, of a function or of a single case.
"""

import argparse
import os
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import pytest

LISTED = Path(__file__).parents[1] / "tests/thorough_cases.txt"

LIMIT = 0.3
"""Seconds of a thorough case: the 13,000 quicker ones take about 330 of 4,000 seconds, and four
minutes with installation and imports on two slow cores."""

HEADER = """\
# Cases that take long, which `make test` leaves out and `make test-all` has: files, functions and
# single cases. Written by tools/tiers.py from measured seconds and its list of tests to keep.
"""

KEPT = (
    "_base/test_compiling.py",
    "cli/test_forecast.py::test_the_forecast_is_that",
    "engines/test_tables_fitted.py::test_a_table_within_the_sample"
    "_is_fitted_as_in_memory[no cluster-one",
    "docs/test_commands.py::test_the_commands_of_a_page_run[docs/quickstart",
    "docs/test_pages.py::test_page[docs/guide/similarities",
    "docs/test_pages.py::test_page[docs/index.md",
    "series/test_forecaster.py::test_the_line_and_the_season_go_on",
    "series/test_forecaster.py::test_models_are_saved[y2",
    "tables/test_table_rows.py::test_counts_are_repeated_rows[model0",
    "fuzz/test_fuzz.py::test_hostile_cases[0",
    "laws/test_honest",
    "learned/test_geweke.py::test_rounds_and_redraws_have_the_models_joint_law[regr",
    "series/test_parameter_posterior.py::test_draws_have_the_moments",
    "tables/test_sum_of_laws.py::test_the_latest_rows_are_scored_alone",
    "tables/test_sum_of_laws.py::test_weights_of_laws_do_not_know",
    "tables/test_tree_laws.py::test_trees_are_those_of_an_exhaustive",
    "files/test_model_file_round_trip.py::test_a_fitted_model_comes_back",
    "report/test_page.py::test_names_from_a_file",
    "test_constants.py",
    "test_structure.py",
)
"""Beginnings of tests that stay: of each kind of fit, page and command one, and of the code."""


WHOLE = ("tests/mutants/test_mutants.py",)
"""Files without quick tests, which take seconds to import."""


class Timed(NamedTuple):
    """A case and its seconds."""

    file: str
    function: str
    case: str
    seconds: float


def cpu_seconds() -> float:
    """Return the CPU seconds of this process and of the processes that it has waited for."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Append the seconds of a test to the file of this process."""
    started = cpu_seconds()
    yield
    worker = os.environ.get("PYTEST_XDIST_WORKER", "main")
    folder = Path(os.environ["TEST_SECONDS"])
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / f"{worker}.tsv").open("a") as file:
        file.write(f"{cpu_seconds() - started:.3f}\t{item.nodeid}\n")


def timed_cases(folder: Path) -> list[Timed]:
    """Read the records of all processes."""
    cases = []
    for path in sorted(folder.glob("*.tsv")):
        for line in path.read_text().splitlines():
            seconds, case = line.split("\t")
            function = case.partition("[")[0]
            cases.append(Timed(function.partition("::")[0], function, case, float(seconds)))
    return cases


def thorough_cases(cases: Sequence[Timed], limit: float, kept: Sequence[str]) -> list[str]:
    """Return files, functions and cases: all cases of ``limit`` seconds, without those to keep."""
    files: dict[str, list[Timed]] = defaultdict(list)
    for case in cases:
        files[case.file].append(case)
    lines: list[str] = []
    for file, of_file in files.items():
        left_out = _left_out(of_file, limit, kept)
        is_whole = set(left_out) == {case.function for case in of_file}
        lines += [file] if is_whole else left_out
    return sorted({*lines, *WHOLE})


def _left_out(cases: Sequence[Timed], limit: float, kept: Sequence[str]) -> list[str]:
    """Return functions all of whose cases are slow, and slow cases of other functions."""
    lines = []
    functions: dict[str, list[Timed]] = defaultdict(list)
    for case in cases:
        functions[case.function].append(case)
    for function, of_function in functions.items():
        slow = [c for c in of_function if c.seconds >= limit and not _is_kept(c.case, kept)]
        if len(slow) == len(of_function):
            lines.append(function)
        else:
            lines += [case.case for case in slow]
    return lines


def _is_kept(case: str, kept: Iterable[str]) -> bool:
    return case.removeprefix("tests/").startswith(tuple(kept))


def main() -> None:
    """Write the list."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path, help="records of a run with -p tools.tiers")
    parser.add_argument("--limit", type=float, default=LIMIT, help="seconds of a thorough case")
    options = parser.parse_args()
    lines = thorough_cases(timed_cases(options.folder), options.limit, KEPT)
    LISTED.write_text(HEADER + "\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
