"""From what a kernel is to what to use."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bochner.kernels import Kernel

if TYPE_CHECKING:
    from bochner.diagnosis.diagnosis import Diagnosis
    from bochner.diagnosis.errors import FeatureErrors, Features

_POOR = 0.05
_MUCH_BETTER = 0.5
_NEARLY_ALL = 0.5


def advise(diagnosis: Diagnosis) -> str:
    """Return what to use, in one to three sentences, with ``kernel`` for the kernel."""
    if not diagnosis.in_domain:
        return diagnosis.domain_message
    return " ".join(filter(None, (_what_to_use(diagnosis), _what_to_do_better(diagnosis))))


def _what_to_use(diagnosis: Diagnosis) -> str:
    spectrum, features = diagnosis.spectrum, diagnosis.features
    assert spectrum is not None
    assert features is not None
    says_not = isinstance(diagnosis.kernel, Kernel) and not diagnosis.kernel.is_symmetric
    if says_not or not diagnosis.symmetric:
        return _for_both_sides(diagnosis, features)
    if features.measure == "none":
        return _without_a_measure(diagnosis.kernel, features)
    if features.positive:
        return (
            "Positive definite: FourierFeatures(kernel) before any linear model, or "
            "KreinRidge(kernel)."
        )
    if spectrum.n_negative:
        return (
            f"{spectrum.definiteness.capitalize()}: KreinRidge(kernel) learns in the kernel's "
            f"Krein space; KreinRidge(kernel, associated=True), or a linear SVM on "
            f"FourierFeatures(kernel), in the associated Hilbert space."
        )
    return (
        "No negative eigenvalue on these rows, but a signed measure: KreinRidge(kernel) heeds the "
        "signs of the features; a linear model on FourierFeatures(kernel) ignores them, and "
        "learns with another kernel."
    )


def _for_both_sides(diagnosis: Diagnosis, features: Features) -> str:
    """Return what to use for a kernel whose two arguments have different features."""
    name = "kernel.__call__" if features.refused else "kernel"
    known = features.measure != "none"
    arguments = name if known else f'{name}, weights="least_squares"'
    said = (
        f"{_what_differs(diagnosis)}: FourierFeatures({arguments}) makes features of both "
        f"arguments, with transform and transform_right; AsymmetricKernelRidge({arguments}) learns "
        f"from rows or from pairs of rows; {_what_krein_ridge_takes(diagnosis)}"
    )
    return " ".join(filter(None, (said, features.reason)))


def _what_differs(diagnosis: Diagnosis) -> str:
    if not diagnosis.symmetric:
        return "Asymmetric"
    return "Symmetric on these rows, though the kernel does not say that it always is"


def _what_krein_ridge_takes(diagnosis: Diagnosis) -> str:
    kernel = diagnosis.kernel
    says_so = isinstance(kernel, Kernel) and not kernel.is_symmetric
    even = "kernel.symmetrised" if says_so else "(kernel(X, Y) + kernel(Y, X).T) / 2"
    return (
        f"KreinRidge takes symmetric kernels only: {even}, if the order of the arguments does not "
        f"matter."
    )


def _without_a_measure(kernel: object, features: Features) -> str:
    name = "kernel.__call__" if features.refused else "kernel"
    fitted = (
        f'KreinRidge({name}, weights="least_squares"), or FourierFeatures with the same arguments'
    )
    if isinstance(kernel, Kernel):
        return f"{features.reason} Without a measure: {fitted}."
    return (
        f"Nothing is known of its spectrum: {fitted}; or Radial(function) or DotProduct(function), "
        f"if it depends on the distance or the inner product alone."
    )


def _what_to_do_better(diagnosis: Diagnosis) -> str:
    """Return a way to a lower error, where that of the features is poor."""
    features, ranks = diagnosis.features, diagnosis.singular_values or diagnosis.spectrum
    assert ranks is not None
    assert features is not None
    if ranks.effective_rank > _NEARLY_ALL * diagnosis.n_rows >= 1.0:
        return (
            f"The effective rank is {ranks.effective_rank:.3g} of {diagnosis.n_rows} rows: the "
            f"kernel hardly relates one row to another, and few features cannot follow it; a "
            f"longer length scale, or scaled inputs, would change that."
        )
    tried = features.fitted
    if tried is None or tried.least_squares_error is None:
        return ""
    sampled, fitted = tried.sampled_error, tried.least_squares_error
    if (fitted if sampled is None else sampled) <= _POOR:
        return ""
    better = sampled is not None and fitted < _MUCH_BETTER * sampled
    first = f'weights="least_squares" lowers the error {_change(tried)}.' if better else ""
    if fitted <= _POOR:
        return first
    if ranks.rank_99 <= tried.n_components:
        values, name = "singular values", "AsymmetricNystroem"
        if diagnosis.symmetric:
            values, name = "eigenvalues", "KreinNystroem"
        second = (
            f"{ranks.rank_99} {values} make 99 % of the spectrum: bochner.baselines."
            f"{name}(kernel, n_components={tried.n_components}) may do better."
        )
    else:
        second = f"The error at {tried.n_components} features is {fitted:.2g} at best: use more."
    return " ".join(filter(None, (first, second)))


def _change(tried: FeatureErrors) -> str:
    return (
        f"at {tried.n_components} features from {tried.sampled_error:.2g} to "
        f"{tried.least_squares_error:.2g}"
    )
