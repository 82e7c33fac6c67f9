"""What `bochner diagnose` prints, and what it refuses."""

import numpy as np
import pandas as pd
import pytest
from cli.command import bochner, refusal, table, write
from sklearn.preprocessing import normalize

from bochner import TableEncoder, diagnose
from bochner.cli.diagnosing import scaled_inputs

INPUTS = table().drop(columns="y")


def flat(path, kernel, *options, target="y"):
    """Run the command without complaint; return its output on one line."""
    result = bochner("diagnose", path, "--kernel", kernel, "--target", target, *options)
    assert result.exit_code == 0, result.output
    assert result.stderr == ""
    return " ".join(result.stdout.split())


SCALINGS = {
    "tl1": "Columns are scaled to [0, 1], and clipped at 3 standard deviations:",
    "gaussian": "Columns are standardised, and clipped at 3 standard deviations:",
    "ntk": "Columns are standardised, and clipped at 3 standard deviations; rows are normalised:",
}


@pytest.mark.parametrize(("kernel", "said"), SCALINGS.items(), ids=SCALINGS)
def test_inputs_are_scaled_as_stated(kernel, said):
    inputs, sentence = scaled_inputs(INPUTS, kernel)
    assert sentence == f"{said} 3 columns, 6 inputs."
    expected = TableEncoder().fit_transform(INPUTS)
    if "[0, 1]" in said:
        expected = (expected - expected.min(axis=0)) / np.maximum(np.ptp(expected, axis=0), 1e-300)
    if "rows" in said:
        expected = normalize(expected)
    np.testing.assert_allclose(inputs, expected, atol=1e-14)


@pytest.mark.thorough
@pytest.mark.parametrize("kernel", ["gaussian", "tl1"])
def test_the_output_is_the_diagnosis(good, kernel):
    output = flat(good, kernel)
    inputs, scaling = scaled_inputs(INPUTS, kernel)
    assert output.startswith(scaling)
    rows = np.random.default_rng(0).permutation(len(inputs))
    found = diagnose(kernel, inputs[rows], random_state=0)
    spectrum = found.spectrum
    for part in (
        f"kernel {found.kernel!r}",
        "rows 150 of 150, with 6 inputs domain contains all rows symmetric yes",
        f"definiteness {spectrum.definiteness} on these rows",
        f"eigenvalues {spectrum.n_positive} positive, {spectrum.n_negative} negative,",
        f"effective rank {spectrum.effective_rank:.3g}; {spectrum.rank_99} eigenvalues",
        "features total variation max error predicted sampled least squares",
        found.advice,
    ):
        assert part in output
    for error in found.features.errors:
        cells = (error.total_variation, error.max_error, error.predicted_error, error.sampled_error)
        numbers = " ".join(f"{cell:.3g}" for cell in cells)
        assert f" {error.n_components} {numbers} " in output


@pytest.mark.thorough
def test_columns_left_out_play_no_part(good, tmp_path):
    without = write(table()[["a", "y"]], tmp_path / "without.csv")
    assert flat(good, "matern", "--target", "b", "--target", "colour") == flat(without, "matern")
    same = bochner("diagnose", write(table()[["a"]], tmp_path / "a.csv"), "--kernel", "matern")
    assert " ".join(same.stdout.split()) == flat(without, "matern")


def test_a_row_outside_the_domain_is_reported(tmp_path):
    # The middle row is the mean of both columns, which no norm makes one.
    path = write(pd.DataFrame({"a": [-1.0, 0.0, 1.0], "y": [0.0, 1.0, 2.0]}), tmp_path / "t.csv")
    output = flat(path, "ntk")
    assert "domain 1 of the 3 examined rows are outside" in output
    assert "Normalizer" in output
    assert "eigenvalues" not in output


REFUSALS = {
    "no such kernel": (("--kernel", "gausian"), "Did you mean 'gaussian'?"),
    "no kernel of a table": (("--kernel", "auto"), "No kernel is called 'auto'."),
    "no such target": (("--target", "z"), "No column 'z' in the table."),
    "no such column": (("--target", "colou"), "Did you mean 'colour'?"),
    "nothing left": (
        ("--target", "a", "--target", "b", "--target", "colour", "--target", "y"),
        "No column is left to diagnose the kernel on",
    ),
}


@pytest.mark.parametrize(("options", "message"), REFUSALS.values(), ids=REFUSALS)
def test_options(tmp_path, good, options, message):
    kernel = () if "--kernel" in options else ("--kernel", "gaussian")
    assert message in refusal(tmp_path, "diagnose", good, *kernel, *options)
