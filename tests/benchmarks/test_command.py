"""The command ``python -m benchmarks``."""

import numpy as np
from pages import rows_of

from benchmarks import BENCHMARKS, find
from benchmarks.__main__ import main


def test_it_prints_what_it_wrote(tmp_path, capsys, monkeypatch):
    monkeypatch.delenv("BOCHNER_DATA", raising=False)
    assert main(["gaussian", "--quick", "--out", str(tmp_path)]) == 0
    written = sorted(path.name for path in tmp_path.iterdir())
    assert "gaussian-quick.csv" in written
    assert any(name.endswith(".svg") for name in written)
    flat = capsys.readouterr().out.replace("\n", "")
    for name in (name for name in written if "environment" not in name):
        assert str(tmp_path / name) in flat


def test_a_benchmark_that_does_not_exist(tmp_path, capsys):
    out = tmp_path / "results"
    assert main(["indefinit", "--out", str(out)]) == 2
    message = capsys.readouterr().err
    start = "Error: There is no benchmark 'indefinit'; there are indefinite, "
    assert message.startswith(start)
    others = message[len(start) :].removesuffix(".\n").split(", ")
    assert sorted(others) == sorted(BENCHMARKS.keys() - {"indefinite"})
    assert not out.exists()


def test_the_figure_of_the_gaussian_benchmark_draws_medians():
    rows = [
        row
        for multiple in (2, 8)
        for row in rows_of("iid", "relative_error", 0.1 * multiple, 0.2 * multiple, 0.9 * multiple,
                           dataset="wine", features_per_input=multiple)
    ]  # fmt: skip
    (line,) = find("gaussian").figures(rows)["error"].axes[0].lines
    np.testing.assert_allclose(line.get_xydata(), [[2, 0.4], [8, 1.6]])
