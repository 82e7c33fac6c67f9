"""The command that predicts what fits take."""

import json

import pytest
from cli.command import bochner, labelled, refusal, table, write
from cli.test_json import schema

from bochner.distributed import Machine, planning
from bochner.distributed import plan as planned

SMALL = ("--features", "64")
MACHINE = Machine(4e-11, 5e-9)


@pytest.fixture(autouse=True)
def known_machine(monkeypatch):
    """Rates that every run has."""
    monkeypatch.setattr(planning.Machine, "measured", lambda *args, **kwargs: MACHINE)


def run(*arguments):
    result = bochner("plan", *arguments, *SMALL)
    assert result.exit_code == 0, result.output
    return result.stdout


def test_all_ways_to_fit_a_table_are_shown(good):
    shown = run(good, "--target", "y", "--rows", "1e5")
    assert "150 rows, 6 encoded inputs. Planned for 100,000 rows on this machine." in (
        " ".join(shown.split())
    )
    for name in ("table ", "ridge, cholesky, rows in memory", "ridge, cg, rows in files"):
        assert name in shown


def test_json_has_the_plans_of_the_library(good):
    record = json.loads(run(good, "--target", "y", "--rows", "1e6", "--json"))
    schema("plan").validate(record)
    assert (record["n_table_rows"], record["n_rows"], record["n_inputs"]) == (150, 10**6, 6)
    cost = planned(1e6, 6, "table", machine=MACHINE)
    first = record["fits"][0]
    assert (first["seconds"], first["memory_bytes"]) == (cost.seconds, cost.memory_bytes)
    assert all(fit["bytes_moved"] == 0.0 for fit in record["fits"])


def test_a_cluster_moves_bytes_at_the_rate_of_its_network(good):
    options = (good, "--target", "y", "--rows", "1e9", "--workers", "100", "--json")
    record, slow = (json.loads(run(*options, "--network", rate)) for rate in ("100MB", "1MB"))
    schema("plan").validate(record)
    assert [fit["method"] for fit in record["fits"]] == [
        "ridge, cholesky, 100 workers",
        "ridge, cg, 100 workers",
    ]
    for fit, slower in zip(record["fits"], slow["fits"], strict=True):
        assert fit["bytes_moved"] == slower["bytes_moved"] > 0.0
        assert fit["seconds"] < slower["seconds"]


def test_fits_within_the_memory_of_a_worker(good):
    shown = run(good, "--target", "y", "--rows", "1e9", "--memory", "1GB")
    lines = {line.split("  ")[0]: line.split()[-1] for line in shown.splitlines() if line}
    assert lines["table"] == "no"
    assert lines["ridge, cholesky, rows in memory"] == "no"
    assert lines["ridge, cholesky, rows in files"] == "yes"


def test_classes_and_no_target_can_be_planned_for(tmp_path):
    path = write(labelled(), tmp_path / "t.csv")
    assert "150 rows, 5 encoded" in " ".join(run(path, "--target", "y", "--drop", "a").split())
    assert "150 rows, 9 encoded" in " ".join(run(path).split())
    several = run(write(table(), tmp_path / "t.csv"), "--target", "y", "--target", "a")
    assert "150 rows, 5 encoded" in " ".join(several.split())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--rows", "0"), "--rows must be a positive whole number such as 1e9, got 0."),
        (("--rows", "1.5"), "--rows must be a positive whole number such as 1e9, got 1.5."),
        (("--rows", "nan"), "--rows must be a positive whole number such as 1e9, got nan."),
        (("--rows", "1e30"), "--rows must be a positive whole number"),
        (("--memory", "much"), "--memory must be a number of bytes"),
        (("--network", "fast"), "--network must be a number of bytes"),
        (("--features", "3"), "--features must be even"),
        (("--effort", "much"), "--effort must be one of quick, default, thorough, got 'much'."),
        (("--drop", "colou"), "Did you mean 'colour'?"),
        (("--drop", "a", "--drop", "b", "--drop", "colour"), "No column is left to plan a fit on"),
    ],
)
def test_refusals(tmp_path, good, options, message):
    assert message in refusal(tmp_path, "plan", good, "--target", "y", *options)


def test_the_number_of_workers_is_positive(good):
    result = bochner("plan", good, "--workers", "0")
    assert result.exit_code == 2
    assert "'--workers'" in result.stderr
