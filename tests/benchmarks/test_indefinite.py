"""The benchmark of features of indefinite kernels."""

import numpy as np
import pytest
from pages import halves_by_hand
from scipy.spatial.distance import cdist

from benchmarks import Cell, Options, read_rows
from benchmarks.baselines import RandomMaclaurin
from benchmarks.indefinite import design
from benchmarks.indefinite.benchmark import INDEFINITE
from bochner import FourierFeatures, kernels

QUICK = Options(quick=True)
DELTA, POLYNOMIAL = design.MAIN


@pytest.fixture(scope="module")
def quick(quick_run):
    return quick_run("indefinite")


def values(rows, metric):
    return {
        (row["kernel"], row["size"], row["method"]): row["value"]
        for row in rows
        if row["metric"] == metric
    }


def cell(method, kernel=POLYNOMIAL, size=1, dataset="breast_cancer", seed=0):
    return Cell(dataset, method, seed, {"kernel": kernel, "size": size})


# The quick run.


def test_designed_measures_are_below_every_random_baseline(quick):
    errors = values(read_rows(quick), "relative_error")
    compared = [(key, error) for key, error in errors.items() if key[2] in design.RANDOM]
    assert len(compared) > 20
    for (kernel, size, _), error in compared:
        assert errors[kernel, size, design.DESIGNED] < error
        assert errors[kernel, size, design.LEAST_SQUARES] < error


def test_predictions_and_numbers_of_features(quick):
    rows = read_rows(quick)
    errors, predicted = values(rows, "relative_error"), values(rows, "predicted_error")
    fitted = values(rows, "fit_error")
    assert {key[2] for key in predicted} == {design.DESIGNED, design.DESIGNED_IID}
    assert {key[2] for key in fitted} == {design.LEAST_SQUARES}
    for key, value in (predicted | fitted).items():
        assert 0.5 < errors[key] / value < 2.0
    for (kernel, size, method), count in values(rows, "n_features").items():
        p = (4 if kernel in (DELTA, *design.POLYNOMIALS) else 2) * 30 * size
        assert count <= p if method in design.NYSTROMS else count == p


def test_the_classifier_is_no_worse_than_the_data(quick):
    accuracy = values(read_rows(quick), "accuracy")
    assert {key[0] for key in accuracy} == set(design.MAIN)
    for (kernel, _, method), value in accuracy.items():
        if (kernel, method) == (DELTA, design.SPHERICAL):  # all features are zero
            assert value == pytest.approx(0.62, abs=0.05)
        else:
            assert value > 0.9


def test_values_of_the_kernel(quick):
    """Exact ones are the closed form; designed ones follow on the sphere as far as data reach."""
    rows = [row for row in read_rows(quick) if str(row["metric"]).startswith("k(")]
    found = {
        (row["kernel"], row["method"], float(row["metric"][2:-1])): row["value"] for row in rows
    }
    z = sorted({key[2] for key in found})
    assert (z[0], z[-1], len(z)) == (0.0, 2.0, 41)
    closed = {
        DELTA: lambda z: np.exp(-(z**2) / 2.0) - np.exp(-(z**2) / 200.0),
        POLYNOMIAL: lambda z: (1.0 - z**2 / 4.0) ** 2,
    }
    for kernel, function in closed.items():
        for distance in z:
            exact = found[kernel, design.EXACT, distance]
            assert exact == pytest.approx(function(distance), abs=1e-12)
            if distance <= 1.0:
                assert found[kernel, design.DESIGNED, distance] == pytest.approx(exact, abs=0.1)


# One cell.


def state(method, seed=0):
    return seed + 10 * (1 + list(design.METHODS).index(method))


def test_the_error_by_hand():
    X, _, X_test, _ = halves_by_hand(on_sphere=True)
    exact = ((1.0 + X_test @ X_test.T) / 2.0) ** 2
    kernel = kernels.SphericalPolynomial(2)
    map = RandomMaclaurin(kernel, 120, random_state=state(design.MACLAURIN)).fit(X)
    Z = map.transform(X_test)
    expected = np.sqrt(np.sum((Z @ Z.T - exact) ** 2) / np.sum(exact**2))
    measured = INDEFINITE.run(cell(design.MACLAURIN), QUICK)
    assert measured["relative_error"] == pytest.approx(expected, rel=1e-9)


def test_the_error_counts_signs():
    X, _, X_test, _ = halves_by_hand(on_sphere=True)
    square = cdist(X_test, X_test, "sqeuclidean")
    exact = np.exp(-square / 2.0) - np.exp(-square / 200.0)
    kernel, random_state = kernels.DeltaGaussian(1.0, 10.0), state(design.JORDAN)
    options = {"scheme": "orthogonal", "decomposition": "jordan", "random_state": random_state}
    map = FourierFeatures(kernel, 240, **options).fit(X)
    Z = map.transform(X_test)
    errors = [
        np.linalg.norm((Z * signs) @ Z.T - exact) / np.linalg.norm(exact)
        for signs in (map.signature_, np.ones(240))
    ]
    measured = INDEFINITE.run(cell(design.JORDAN, DELTA, size=2), QUICK)["relative_error"]
    assert measured == pytest.approx(errors[0], rel=1e-9)
    assert errors[1] > 5.0 * errors[0]


def test_warnings_of_what_is_measured_are_not_shown(recwarn):
    INDEFINITE.run(cell(design.JORDAN), QUICK)  # of infinite mass
    INDEFINITE.run(cell(design.SPHERICAL, DELTA), QUICK)  # all features are zero
    assert not recwarn.list


def test_the_trapezoid_is_what_it_says_and_indefinite():
    np.testing.assert_allclose(
        design.trapezoid(np.array([0.0, 0.25, 0.75, 1.25, 9.0])), [1.0, 1.0, 0.5, 0.0, 0.0]
    )
    X = np.random.default_rng(0).uniform(size=(60, 3))
    eigenvalues = np.linalg.eigvalsh(kernels.Radial(design.trapezoid)(X))
    assert eigenvalues[0] < -0.1
