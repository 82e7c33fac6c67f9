"""What a diagnosis says of kernels of which it is known."""

import warnings
from dataclasses import dataclass

import numpy as np
import pytest
from laws.registry import AnyDim
from sklearn.preprocessing import Normalizer

from bochner import FourierFeatures, KreinRidge, diagnose, features, kernels
from bochner.linear.diagnosis_result import Diagnosis

RNG = np.random.default_rng(0)
X = RNG.normal(size=(120, 4))
SPHERE = X / np.linalg.norm(X, axis=1, keepdims=True)
FEW = {"n_components": 32, "random_state": 0}


def difference(A, B):
    """Two inner products less two others: positive and negative rank two."""
    return A[:, :2] @ B[:, :2].T - A[:, 2:] @ B[:, 2:].T


def turned(A, B):
    """An inner product plus half of its skew-symmetric companion."""
    return A @ B.T + 0.5 * (A[:, :1] @ B[:, 1:2].T - A[:, 1:2] @ B[:, :1].T)


def step(t):
    return (t < 2.0).astype(float)


def ones(A, B):
    return np.ones((len(A), len(B)))


@dataclass(frozen=True, slots=True)
class Overlap(AnyDim):
    """A kernel whose measure nothing knows."""

    def evaluate(self, X, Y):
        return np.minimum(X[:, None, :], Y[None, :, :]).sum(axis=2)


def diagnosis(kernel, rows, **options) -> Diagnosis:
    """A diagnosis that no warning accompanies."""
    with warnings.catch_warnings(action="error"):
        return diagnose(kernel, rows, **{**FEW, **options})


def test_the_inertia_of_a_difference_of_inner_products():
    spectrum = diagnosis(difference, X).spectrum
    assert (spectrum.n_positive, spectrum.n_negative, spectrum.n_zero) == (2, 2, 116)
    values = np.linalg.eigvalsh(difference(X, X))
    assert spectrum.negative_share == pytest.approx(-values[:2].sum() / np.abs(values).sum())


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("kernel", "rows"),
    [
        (kernels.Gaussian(2.0), X),
        (kernels.Laplacian(2.0), X),
        (kernels.Matern(1.0), X),
        (kernels.Polynomial(2), X),
        (kernels.TL1(3.0), X[:, :1]),
        (kernels.NTK(), SPHERE),
        (kernels.SphericalPolynomial(), SPHERE),
    ],
    ids=lambda value: "" if isinstance(value, np.ndarray) else repr(value),
)
def test_a_positive_definite_kernel_has_no_negative_eigenvalue(kernel, rows):
    found = diagnosis(kernel, rows)
    assert found.symmetric
    assert found.spectrum.n_negative == 0
    assert found.spectrum.negative_share == found.spectrum.most_negative == 0.0
    assert "negative part" not in str(found)


@pytest.mark.thorough
def test_a_kernel_that_is_zero_at_zero_is_half_negative():
    # The trace is zero, so that positive and negative eigenvalues have the same sum.
    spectrum = diagnosis(kernels.DeltaGaussian(), X).spectrum
    assert spectrum.negative_share == pytest.approx(0.5)
    assert spectrum.definiteness == "indefinite"


def test_asymmetry():
    found = diagnosis(turned, X)
    gram = turned(X, X)
    skew = (gram - gram.T) / 2
    assert found.symmetric is False
    assert found.asymmetry == pytest.approx(np.linalg.norm(skew) / np.linalg.norm(gram))
    # The symmetric part is the inner product, of rank four.
    assert (found.spectrum.n_positive, found.spectrum.n_negative) == (4, 0)
    assert found.singular_values.rank_99 == 4
    assert "(kernel(X, Y) + kernel(Y, X).T) / 2" in found.advice
    again = diagnosis(lambda A, B: (turned(A, B) + turned(B, A).T) / 2, X)
    assert again.symmetric
    assert again.asymmetry == pytest.approx(0.0, abs=1e-15)


@pytest.mark.thorough
def test_rows_outside_the_domain_are_no_error():
    rows = SPHERE.copy()
    rows[[3, 50, 51]] *= 2.0
    found = diagnosis(kernels.NTK(), rows)
    assert found.in_domain is False
    assert found.n_outside == 3
    assert "row 3 has norm 2" in found.domain_message
    assert "Normalizer" in found.advice
    assert found.symmetric is found.spectrum is found.features is None
    assert "3 of the 120 examined rows are outside" in str(found)
    assert diagnosis(kernels.NTK(), Normalizer().fit_transform(rows)).in_domain


REFUSED = [
    *(
        (kernel, X, {}, message)
        for kernel, message in (
            (lambda A, B: np.full((len(A), len(B)), np.nan), "returned nan for a pair of rows"),
            (lambda A, B: np.where(A[:, :1] > 0, np.inf, A @ B.T), "returned inf for a pair of"),
            (lambda A, B: A @ B[0], r"must return an array of shape \(120, 120\)"),
            (lambda A, B: A @ A.T, r"must return an array of shape \(3, 120\)"),
            (lambda A, B: np.exp(1j * (A @ B.T)), "must return real numbers, got complex128"),
            (lambda A, B: A @ B.T - (A @ B.T).mean(), "is not a function of pairs"),
            (kernels.Radial(lambda t: np.log(t - 1.0)), "returned"),
            (kernels.Gaussian((1.0, 2.0)), "length_scale has 2 entries"),
            ("gausian", r"Did you mean 'gaussian'\?"),
            *((bad, "kernel must be a Kernel") for bad in (None, 3, kernels.Gaussian)),
        )
    ),
    ("gaussian", X[:1], {}, "minimum of 2 is required"),
    ("gaussian", np.where(X > 2.0, np.nan, X), {}, "NaN"),
    ("gaussian", X, {"n_components": 33}, "Use 34"),
    ("gaussian", X, {"n_components": ()}, "at least one number of features"),
]


@pytest.mark.parametrize(("kernel", "rows", "options", "message"), REFUSED)
def test_what_cannot_be_diagnosed_is_refused(kernel, rows, options, message):
    with pytest.raises((TypeError, ValueError), match=message):
        diagnose(kernel, rows, **{**FEW, **options})


@pytest.mark.parametrize("dtype", [bool, np.uint8])
def test_similarities_of_any_type_are_numbers(dtype):
    def similarity(A, B):
        return np.add.outer(A[:, 0], B[:, 0]) - A[:, [0]] * B[:, 1] > 0.0

    same = diagnosis(lambda A, B: similarity(A, B).astype(float), X)
    found = diagnosis(lambda A, B: similarity(A, B).astype(dtype), X)
    assert (found.spectrum, found.asymmetry) == (same.spectrum, same.asymmetry)


def test_at_most_a_thousand_rows_are_looked_at():
    rows = np.random.default_rng(3).normal(size=(1200, 2))
    found = diagnosis("laplacian", rows)
    assert (found.n_samples, found.n_rows, found.dim) == (1200, 1000, 2)
    assert (
        sum((found.spectrum.n_positive, found.spectrum.n_negative, found.spectrum.n_zero)) == 1000
    )


@pytest.mark.thorough_cases("tl1")
@pytest.mark.parametrize("n", [2, 3, 7, 8, 9])
@pytest.mark.parametrize(
    "kernel", ["gaussian", "tl1", difference], ids=["gaussian", "tl1", "function"]
)
def test_a_handful_of_rows(kernel, n):
    found = diagnosis(kernel, X[:n])
    assert found.n_rows == n
    assert (found.features.fitted is not None) == (n >= 8)
    assert found.advice


ADVICE = {
    "definite": (kernels.Gaussian(2.0), X, "Positive definite: use FourierFeatures(kernel)"),
    "indefinite": (kernels.DeltaGaussian(), X, 'Indefinite: KreinRidge(kernel, alpha="evidence")'),
    "negative": (
        -1.0 * kernels.Gaussian(),
        X,
        'Negative semidefinite: KreinRidge(kernel, alpha="evidence")',
    ),
    "signed": (kernels.NTK(), SPHERE, 'but a signed measure: KreinRidge(kernel, alpha="evidence")'),
    "function": (
        ones,
        X,
        'The spectral measure of a function is unknown: use FourierFeatures(kernel, weights="',
    ),
    "discontinuous": (kernels.Radial(step), X, 'FourierFeatures(kernel.__call__, weights="least_'),
    "no measure": (Overlap(), SPHERE, "Without a measure, use FourierFeatures(kernel, weights="),
    "low rank": (difference, 40.0 * X, "4 eigenvalues make up 99 % of the spectrum: bochner.feat"),
    "weights": (kernels.Exponential(9.0), X, 'weights="least_squares" lowers the error with 32'),
    "high error": (kernels.Laplacian(1.5), X, "at best: use more."),
    "high rank": (
        kernels.Laplacian(0.05),
        X,
        "for 120 rows: kernel values of different rows are close",
    ),
}


@pytest.mark.thorough
@pytest.mark.filterwarnings("ignore:The features approximate the kernel badly")
@pytest.mark.parametrize(("kernel", "rows", "words"), ADVICE.values(), ids=ADVICE)
def test_advice_names_what_exists_and_takes_the_kernel(kernel, rows, words):
    advice = diagnosis(kernel, rows).advice
    assert words in advice
    names = {
        "FourierFeatures": FourierFeatures,
        "KreinRidge": KreinRidge,
        "bochner.features.KreinNystroem": features.KreinNystroem,
    }
    tried = 0
    for name, estimator in names.items():
        for call in advice.split(name + "(")[1:]:
            arguments = call.split(")")[0]
            if "..." in arguments:  # Of features that the sentence names before
                continue
            model = eval(f"E({arguments})", {"E": estimator, "kernel": kernel})
            fitted = model.fit(rows, rows[:, 0]) if estimator is KreinRidge else model.fit(rows)
            assert hasattr(fitted, "signature_")
            tried += 1
    assert tried
