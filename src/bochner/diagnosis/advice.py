"""Advice on which estimator to use, from the facts of a diagnosis."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bochner.kernels import Kernel

if TYPE_CHECKING:
    from bochner.diagnosis.diagnosis import Diagnosis
    from bochner.diagnosis.errors import Features

# Relative error of features above which a better approximation is suggested.
_POOR_ERROR = 0.05

# Ratio of errors below which least-squares weights are suggested. Half of the sampled error
# would otherwise take four times as many features.
_MUCH_BETTER = 0.5

# Effective rank per row above which few features cannot represent the kernel.
_NEARLY_FULL_RANK = 0.5


def advise(diagnosis: Diagnosis) -> str:
    """Return what to use, in one to three sentences, with ``kernel`` for the kernel."""
    if not diagnosis.in_domain:
        return diagnosis.domain_message
    return " ".join(filter(None, (_what_to_use(diagnosis), _how_to_improve(diagnosis))))


def _what_to_use(diagnosis: Diagnosis) -> str:
    spectrum, features = diagnosis.spectrum, diagnosis.features
    assert spectrum is not None
    assert features is not None
    declared = not isinstance(diagnosis.kernel, Kernel) or diagnosis.kernel.is_symmetric
    if not (declared and diagnosis.symmetric):
        return _for_both_arguments(diagnosis, features, declared)
    if features.measure == "none":
        return _without_a_measure(diagnosis.kernel, features)
    if features.positive:
        return (
            "Positive definite: use FourierFeatures(kernel) before any linear model, or "
            "KreinRidge(kernel)."
        )
    if spectrum.n_negative:
        return (
            f"{spectrum.definiteness.capitalize()}: KreinRidge(kernel) learns in the kernel's "
            f"Krein space. To learn in the associated Hilbert space, use KreinRidge(kernel, "
            f"associated=True), or a linear SVM on FourierFeatures(kernel)."
        )
    return (
        "No negative eigenvalue on these rows, but a signed measure: KreinRidge(kernel) uses the "
        "signs of the features; a linear model on FourierFeatures(kernel) ignores them, so it "
        "learns with a different kernel."
    )


def _for_both_arguments(diagnosis: Diagnosis, features: Features, declared: bool) -> str:
    """Return what to use for a kernel whose two arguments have different features."""
    arguments = "kernel.__call__" if features.refused else "kernel"
    if features.measure == "none":
        arguments += ', weights="least_squares"'
    finding = "Asymmetric"
    if diagnosis.symmetric:
        finding = "Symmetric on these rows, but the kernel is not declared symmetric"
    even = "(kernel(X, Y) + kernel(Y, X).T) / 2" if declared else "kernel.symmetrised"
    advice = (
        f"{finding}: FourierFeatures({arguments}) returns features of both arguments, by "
        f"transform and transform_right; AsymmetricKernelRidge({arguments}) learns from rows or "
        f"from pairs of rows. KreinRidge takes symmetric kernels only: use {even} if the order of "
        f"the arguments does not matter."
    )
    return " ".join(filter(None, (advice, features.reason)))


def _without_a_measure(kernel: object, features: Features) -> str:
    name = "kernel.__call__" if features.refused else "kernel"
    fitted = (
        f'KreinRidge({name}, weights="least_squares"), or FourierFeatures with the same arguments'
    )
    if isinstance(kernel, Kernel):
        return f"{features.reason} Without a measure, use {fitted}."
    return (
        f"The spectral measure of a function is unknown: use {fitted}. If it depends only on the "
        f"distance or the inner product, use Radial(function) or DotProduct(function)."
    )


def _how_to_improve(diagnosis: Diagnosis) -> str:
    """Return how to lower the error of the features, where it is high."""
    features, ranks = diagnosis.features, diagnosis.singular_values or diagnosis.spectrum
    assert ranks is not None
    assert features is not None
    if ranks.effective_rank > _NEARLY_FULL_RANK * diagnosis.n_rows >= 1.0:
        return (
            f"The effective rank is {ranks.effective_rank:.3g} for {diagnosis.n_rows} rows: kernel "
            f"values of different rows are close to zero, and few features cannot represent them. "
            f"Use a longer length scale, or scale the inputs."
        )
    tried = features.fitted
    if tried is None or tried.least_squares_error is None:
        return ""
    sampled, fitted = tried.sampled_error, tried.least_squares_error
    if (fitted if sampled is None else sampled) <= _POOR_ERROR:
        return ""
    m, advice = tried.n_components, []
    if sampled is not None and fitted < _MUCH_BETTER * sampled:
        change = f"from {sampled:.2g} to {fitted:.2g}"
        advice.append(f'weights="least_squares" lowers the error with {m} features {change}.')
    if fitted > _POOR_ERROR and ranks.rank_99 <= m:
        values = "eigenvalues" if diagnosis.symmetric else "singular values"
        name = "KreinNystroem" if diagnosis.symmetric else "AsymmetricNystroem"
        advice.append(
            f"{ranks.rank_99} {values} make up 99 % of the spectrum: bochner.baselines."
            f"{name}(kernel, n_components={m}) may have a lower error."
        )
    elif fitted > _POOR_ERROR:
        advice.append(f"The error with {m} features is {fitted:.2g} at best: use more.")
    return " ".join(advice)
