"""The command ``python -m benchmarks``."""

import numpy as np

from benchmarks import find
from benchmarks.__main__ import main


def test_it_prints_what_it_wrote_and_resumes(tmp_path, capsys, monkeypatch):
    monkeypatch.delenv("BOCHNER_DATA", raising=False)
    command = ["gaussian", "--quick", "--out", str(tmp_path)]
    assert main(command) == 0
    written = sorted(path.name for path in tmp_path.iterdir())
    assert "gaussian-quick.csv" in written
    assert any(name.endswith(".svg") for name in written)
    flat = capsys.readouterr().out.replace("\n", "")
    for name in (name for name in written if "environment" not in name):
        assert str(tmp_path / name) in flat
    first = (tmp_path / "gaussian-quick.csv").read_bytes()
    assert main(command) == 0
    assert (tmp_path / "gaussian-quick.csv").read_bytes() == first


def test_a_benchmark_that_does_not_exist(tmp_path, capsys):
    out = tmp_path / "results"
    assert main(["tabels", "--out", str(out)]) == 2
    known = "tables, gabasr, gaussian, asymmetric, bank, speed, indefinite, digmm"
    message = f"Error: There is no benchmark 'tabels'; there are {known}.\n"
    assert capsys.readouterr().err == message
    assert not out.exists()


def test_the_figure_of_the_gaussian_benchmark_draws_medians():
    rows = [
        {
            "dataset": "wine",
            "method": "iid",
            "features_per_input": multiple,
            "seed": seed,
            "metric": metric,
            "value": value * multiple,
        }
        for multiple in (2, 8)
        for metric, values in (("relative_error", (0.1, 0.2, 0.9)), ("seconds", (5.0, 6.0, 7.0)))
        for seed, value in enumerate(values)
    ]
    (line,) = find("gaussian").figures(rows)["error"].axes[0].lines
    np.testing.assert_allclose(line.get_xydata(), [[2, 0.4], [8, 1.6]])
