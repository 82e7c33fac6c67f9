"""Which tests `make test` leaves out follows their measured seconds."""

from pathlib import Path

from tools.tiers import LISTED

ROOT = Path(__file__).parents[2]


def test_listed_files_exist():
    lines = [line for line in LISTED.read_text().splitlines() if not line.startswith("#")]
    assert lines == sorted(set(lines))
    assert all((ROOT / line.partition("::")[0]).is_file() for line in lines)
