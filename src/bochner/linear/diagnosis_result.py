"""The result of a diagnosis as text, with the inertia and rank of a Gram matrix."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from dataclasses import astuple, dataclass
from functools import partial
from typing import Any

import numpy as np
from scipy.linalg import eigvalsh, svdvals

from bochner._base.arrays import Array
from bochner.features.parameters import kernel_name
from bochner.kernels import Kernel
from bochner.linear.feature_errors import Features

# Share of the sum that the values counted by rank_99 reach.
_RANK_SHARE = 0.99


@dataclass(frozen=True, slots=True)
class Spectrum:
    r"""Inertia and effective rank of a matrix with eigenvalues :math:`\lambda_i`.

    Attributes
    ----------
    n_positive, n_negative, n_zero : int
        The inertia: numbers of positive, negative and zero eigenvalues.
    tolerance : float
        Absolute value, relative to the largest one, up to which eigenvalues count as zero.
    negative_share : float
        :math:`\sum_{\lambda_i < 0} |\lambda_i| / \sum_i |\lambda_i|`, from 0 to 1.
    most_negative : float
        Smallest eigenvalue if it is negative, otherwise zero, relative to the largest absolute
        value; from −1 to 0.
    effective_rank : float
        :math:`(\sum_i |\lambda_i|)^2 / \sum_i \lambda_i^2`.
    rank_99 : int
        Smallest number of eigenvalues that make up 99 % of :math:`\sum_i |\lambda_i|`.
    """

    n_positive: int
    n_negative: int
    n_zero: int
    tolerance: float
    negative_share: float
    most_negative: float
    effective_rank: float
    rank_99: int

    @property
    def definiteness(self) -> str:
        """The text "positive semidefinite", "negative semidefinite", "indefinite" or "zero"."""
        if self.n_positive and self.n_negative:
            return "indefinite"
        if self.n_negative:
            return "negative semidefinite"
        return "positive semidefinite" if self.n_positive else "zero"


def spectrum_of(gram: Array, tolerance: float = 1e-10) -> Spectrum:
    """Return the inertia and effective rank of the symmetric part of a finite matrix (n, n)."""
    scale = float(np.abs(gram).max(initial=0.0)) or 1.0
    symmetric: Array = (0.5 / scale) * (gram + gram.T)
    values: Array = np.asarray(eigvalsh(symmetric), dtype=np.float64)
    size = -np.sort(-np.abs(values))
    total, least = float(size.sum()), tolerance * float(size[0])
    negative = values < -least
    effective_rank, rank_99 = _ranks(size)
    return Spectrum(
        n_positive=int(np.count_nonzero(values > least)),
        n_negative=int(np.count_nonzero(negative)),
        n_zero=int(np.count_nonzero(np.abs(values) <= least)),
        tolerance=tolerance,
        negative_share=float(-values[negative].sum()) / (total or 1.0),
        most_negative=float(values[negative].min(initial=0.0)) / (float(size[0]) or 1.0),
        effective_rank=effective_rank,
        rank_99=rank_99,
    )


@dataclass(frozen=True, slots=True)
class SingularValues:
    r"""Effective rank of a matrix with singular values :math:`\sigma_i`.

    Attributes
    ----------
    effective_rank : float
        :math:`(\sum_i \sigma_i)^2 / \sum_i \sigma_i^2`.
    rank_99 : int
        Smallest number of singular values that make up 99 % of :math:`\sum_i \sigma_i`.
    """

    effective_rank: float
    rank_99: int


def singular_values_of(gram: Array) -> SingularValues:
    """Return the effective rank of a finite matrix (n, n2), symmetric or not."""
    scale = float(np.abs(gram).max(initial=0.0)) or 1.0
    return SingularValues(*_ranks(np.asarray(svdvals(gram / scale), dtype=np.float64)))


def _ranks(size: Array) -> tuple[float, int]:
    """Return the effective rank and the number of largest values that sum to 99 % of the total."""
    total = float(size.sum())
    effective = total**2 / (float(size @ size) or 1.0)
    most = int(np.searchsorted(np.cumsum(size), _RANK_SHARE * total)) + 1 if total else 0
    return effective, most


# Names of the fields of FeatureErrors, in their order.
HEADINGS = ("features", "total variation", "max error", "predicted", "sampled", "least squares")
_PREDICTED = {
    "designed": "predicted for orthogonal frequencies",
    "closed form": "predicted for independent frequencies",
}
# Line width in characters, which fits a terminal of 90 columns.
_WIDTH = 88


@dataclass(frozen=True, slots=True, repr=False)
class Diagnosis:
    """The properties of a kernel on given data; its repr is a table.

    Examples
    --------
    >>> import numpy as np
    >>> from bochner import diagnose, kernels
    >>> X = np.random.default_rng(0).normal(size=(50, 2))
    >>> found = diagnose(kernels.Tanh(), X, random_state=0)
    >>> found.spectrum.most_negative < 0.0, found.singular_values is None
    (True, True)

    Attributes
    ----------
    kernel : Kernel or callable
    n_samples, n_rows, dim : int
        Number of rows of the data, of examined rows, and of inputs.
    in_domain : bool
        Whether the kernel is defined on all rows. If not, the attributes below are ``None``.
    domain_message : str
        Message on a row outside of the domain, with advice; empty if all rows are in the domain.
    n_outside : int
        Number of examined rows outside of the domain.
    symmetric : bool or None
        Whether ``|K - Kᵀ|`` is at most 1e-8 of the greatest entry.
    asymmetry : float or None
        Frobenius norm of the asymmetric part relative to that of the Gram matrix, 0 to 1.
    spectrum : Spectrum or None
        Eigenvalues of the symmetric part of the exact Gram matrix.
    singular_values : SingularValues or None
        Singular values of the exact Gram matrix, if it is not symmetric.
    features : Features or None
        Measure and errors of features.
    """

    kernel: Any
    n_samples: int
    n_rows: int
    dim: int
    in_domain: bool
    domain_message: str = ""
    n_outside: int = 0
    symmetric: bool | None = None
    asymmetry: float | None = None
    spectrum: Spectrum | None = None
    singular_values: SingularValues | None = None
    features: Features | None = None

    @property
    def advice(self) -> str:
        """Advice on the choice of an estimator, in which the kernel is called ``kernel``."""
        if not self.in_domain:
            return self.domain_message
        return " ".join(filter(None, (_what_to_use(self), _how_to_improve(self))))

    def __repr__(self) -> str:
        return page(self)


def facts(diagnosis: Diagnosis) -> Mapping[str, str]:
    """Return the properties of a diagnosed kernel as texts by name, without the advice."""
    outside = f"{diagnosis.n_outside} of the {diagnosis.n_rows} examined rows are outside"
    values = {
        "kernel": kernel_name(diagnosis.kernel),
        "rows": f"{diagnosis.n_rows} of {diagnosis.n_samples}, with {diagnosis.dim} inputs",
        "domain": "contains all rows" if diagnosis.in_domain else outside,
    }
    if diagnosis.spectrum is not None:
        values["symmetric"] = (
            "yes"
            if diagnosis.symmetric
            else f"no; the asymmetric part has {diagnosis.asymmetry:.3g} of the Frobenius norm; "
            f"the eigenvalues are those of the symmetric part"
        )
        values |= _spectrum(diagnosis.spectrum)
    if diagnosis.singular_values is not None:
        values["effective rank"] = _rank(diagnosis.singular_values, "singular values", "sum")
    features = diagnosis.features
    if features is not None:
        has_measure = features.measure != "none"
        values["measure"] = f"{features.sign}, {features.measure}" if has_measure else "not known"
    return values


def error_rows(diagnosis: Diagnosis) -> list[tuple[str, ...]]:
    """Return the cells of the table of errors, under ``HEADINGS``."""
    rows = []
    for errors in () if diagnosis.features is None else diagnosis.features.errors:
        n_components, *values = astuple(errors)
        rows.append((str(n_components), *("" if v is None else f"{v:.3g}" for v in values)))
    return rows


def legend(diagnosis: Diagnosis) -> str:
    """Return an explanation of the columns in the table of errors."""
    features = diagnosis.features
    if features is None:
        return ""
    ordered = "" if diagnosis.symmetric else " in either order"
    words = [f"Errors are relative, over pairs of distinct rows{ordered}"]
    if features.errors[0].predicted_error is not None:
        words.append(_PREDICTED.get(features.measure, "predicted"))
    if features.fitted is not None:
        words.append("the last two columns are measured on held-out rows")
    if features.measure == "numerical":
        words.append("max error is aliasing and truncation of the transform")
    return "; ".join(words) + "."


def page(diagnosis: Diagnosis) -> str:
    """Return the whole diagnosis as lines of text."""
    values = facts(diagnosis)
    indent = max(map(len, values)) + 2
    lines = [_wrapped(value, name.ljust(indent), indent) for name, value in values.items()]
    table = [HEADINGS, *error_rows(diagnosis)]
    if len(table) > 1:
        widths = [len(head) for head in HEADINGS]
        lines += ["", *("  ".join(map(str.rjust, cells, widths)) for cells in table)]
        lines.append(_wrapped(legend(diagnosis)))
    return "\n".join([*lines, "", _wrapped(diagnosis.advice)])


def _wrapped(text: str, start: str = "", indent: int = 0) -> str:
    wrap = partial(textwrap.fill, break_long_words=False, break_on_hyphens=False)
    return wrap(text, _WIDTH, initial_indent=start, subsequent_indent=" " * indent)


def _spectrum(spectrum: Spectrum) -> dict[str, str]:
    values = {
        "definiteness": f"{spectrum.definiteness} on these rows",
        "eigenvalues": f"{spectrum.n_positive} positive, {spectrum.n_negative} negative, "
        f"{spectrum.n_zero} zero (at most {spectrum.tolerance:.1g} of the largest absolute value)",
    }
    if spectrum.n_negative:
        values["negative part"] = (
            f"{spectrum.negative_share:.3g} of the sum of absolute values; the most negative "
            f"eigenvalue is {spectrum.most_negative:.3g} of the largest absolute value"
        )
    values["effective rank"] = _rank(spectrum, "eigenvalues", "sum of absolute values")
    return values


def _rank(ranks: Spectrum | SingularValues, values: str, total: str) -> str:
    return f"{ranks.effective_rank:.3g}; {ranks.rank_99} {values} make up 99 % of their {total}"


# Relative error of features above which a better approximation is suggested.
_POOR_ERROR = 0.05

# Ratio of the least-squares error to the sampled error below which fitted weights are suggested.
# Halving the sampled error would take four times as many features.
_MUCH_BETTER = 0.5

# Effective rank per row above which few features cannot represent the kernel.
_NEARLY_FULL_RANK = 0.5


def _what_to_use(diagnosis: Diagnosis) -> str:
    spectrum, features = diagnosis.spectrum, diagnosis.features
    assert spectrum is not None
    assert features is not None
    declared = not isinstance(diagnosis.kernel, Kernel) or diagnosis.kernel.is_symmetric
    if not (declared and diagnosis.symmetric):
        return _for_both_arguments(diagnosis, features, declared)
    if features.measure == "none":
        return _without_a_measure(diagnosis.kernel, features, spectrum)
    if features.positive:
        return (
            "Positive definite: use FourierFeatures(kernel) before any linear model, or "
            "KreinRidge(kernel)."
        )
    if spectrum.n_negative:
        return (
            f'{spectrum.definiteness.capitalize()}: KreinRidge(kernel, alpha="evidence") learns in '
            f"the kernel's Krein space. To learn in the associated Hilbert space, use "
            f"KreinRidge(kernel, associated=True), or a linear SVM on FourierFeatures(kernel)."
        )
    return (
        "No negative eigenvalue on these rows, but a signed measure: KreinRidge(kernel, "
        'alpha="evidence") uses the signs of the features; a linear model on '
        "FourierFeatures(kernel) ignores them, so it learns with a different kernel."
    )


def _for_both_arguments(diagnosis: Diagnosis, features: Features, declared: bool) -> str:
    """Recommend an estimator for a kernel whose two arguments have different features."""
    arguments = "kernel.__call__" if features.refused else "kernel"
    if features.measure == "none":
        arguments += ', weights="least_squares"'
    finding = "Asymmetric"
    if diagnosis.symmetric:
        finding = "Symmetric on these rows, but the kernel is not declared symmetric"
    even = "(kernel(X, Y) + kernel(Y, X).T) / 2" if declared else "kernel.symmetrised"
    learner = arguments if arguments == "kernel" else f"features=FourierFeatures({arguments})"
    advice = (
        f"{finding}: FourierFeatures({arguments}) returns features of both arguments, by "
        f"transform and transform_right; AsymmetricKernelRidge({learner}) learns from rows, "
        f"AsymmetricPairRidge({learner}) from pairs of rows. KreinRidge takes symmetric "
        f"kernels only: use {even} if the order of the arguments does not matter."
    )
    return " ".join(filter(None, (advice, features.reason)))


def _without_a_measure(kernel: object, features: Features, spectrum: Spectrum) -> str:
    name = "kernel.__call__" if features.refused else "kernel"
    # A fixed alpha may be close to a negative eigenvalue.
    alpha = ', alpha="evidence"' if spectrum.n_negative else ""
    fitted = (
        f'FourierFeatures({name}, weights="least_squares") before a linear model, or as '
        f"features in KreinRidge(features=...{alpha})"
    )
    if isinstance(kernel, Kernel):
        return f"{features.reason} Without a measure, use {fitted}."
    return (
        f"{spectrum.definiteness.capitalize()} on these rows. The spectral measure of a function "
        f"is unknown: use {fitted}. If it depends only on the Euclidean distance or the inner "
        f"product, use Radial(function) or DotProduct(function)."
    )


def _how_to_improve(diagnosis: Diagnosis) -> str:
    """Return advice on how to lower the error of the features if it is high."""
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
            f"{ranks.rank_99} {values} make up 99 % of the spectrum: bochner.features."
            f"{name}(kernel, n_components={m}) may have a lower error."
        )
    elif fitted > _POOR_ERROR:
        advice.append(f"The error with {m} features is {fitted:.2g} at best: use more.")
    return " ".join(advice)
