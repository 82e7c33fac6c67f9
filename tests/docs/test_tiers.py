"""Which tests `make test` leaves out follows their measured seconds."""

from pathlib import Path

from tools.tiers import LISTED, thorough_cases, timed_cases

ROOT = Path(__file__).parents[2]


def test_files_functions_and_cases_of_long_tests_are_listed(tmp_path):
    records = {
        "gw0": ["2.000\ttests/a.py::test_slow[1]", "0.010\ttests/b.py::test_quick"],
        "gw1": [
            "3.000\ttests/a.py::test_slow[2]",
            "0.900\ttests/b.py::test_mixed[x-y]",
            "0.100\ttests/b.py::test_mixed[z]",
            "0.900\ttests/b.py::test_whole",
            "9.000\ttests/b.py::test_kept[one]",
        ],
    }
    for worker, lines in records.items():
        (tmp_path / f"{worker}.tsv").write_text("\n".join(lines) + "\n")
    lines = thorough_cases(timed_cases(tmp_path), 0.5, ["b.py::test_kept"])
    assert lines == [
        "tests/a.py",
        "tests/b.py::test_mixed[x-y]",
        "tests/b.py::test_whole",
        "tests/mutants/test_mutants.py",
    ]


def test_listed_files_exist():
    lines = [line for line in LISTED.read_text().splitlines() if not line.startswith("#")]
    assert lines == sorted(set(lines))
    assert all((ROOT / line.partition("::")[0]).is_file() for line in lines)
