r"""Opponents in the tables of papers: published feature maps and models.

The maps are scikit-learn transformers: ``transform(X)`` has ``n_components`` real features,
``signature_`` contains their signs, and ``gram(X, Y)`` is the approximate Gram matrix
``(transform(X) * signature_) @ transform(Y).T``.

=================================== ============================================= ========
Transformer                         Kernels                                       Signs
=================================== ============================================= ========
:class:`SphericalRandomFeatures`    functions of the distance, on a sphere        positive
:class:`RandomMaclaurin`            polynomials of the inner product              both
:class:`TensorizedRandomProjection` :math:`(\gamma \langle x, y \rangle + c)^p`   positive
:class:`TensorSketch`               :math:`(\gamma \langle x, y \rangle + c)^p`   positive
:class:`MultipleKernelFeatures`     combinations of a bank, learned from targets  positive
=================================== ============================================= ========

Maps with positive signs only cannot approximate an indefinite kernel with any number of features.

Two models learn the frequencies, as samples of a Gaussian mixture whose parameters are optimised
while its base samples stay fixed: :class:`ALaCarteRegressor` by marginal likelihood and
:class:`RandomFrequencyClassifier` together with the weights of a logistic model.
"""

from benchmarks.baselines.a_la_carte import ALaCarteRegressor
from benchmarks.baselines.multiple_kernels import MultipleKernelFeatures
from benchmarks.baselines.polynomial_features import (
    RandomMaclaurin,
    TensorizedRandomProjection,
    TensorSketch,
)
from benchmarks.baselines.random_frequency_classifier import RandomFrequencyClassifier
from benchmarks.baselines.spherical import SphericalRandomFeatures

__all__ = [
    "ALaCarteRegressor",
    "MultipleKernelFeatures",
    "RandomFrequencyClassifier",
    "RandomMaclaurin",
    "SphericalRandomFeatures",
    "TensorSketch",
    "TensorizedRandomProjection",
]
