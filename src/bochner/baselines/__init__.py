r"""Other methods to compare with: published feature maps and models.

The maps are scikit-learn transformers: ``transform(X)`` has ``n_components`` real features,
``signature_`` contains their signs, and ``gram(X, Y)`` is the approximate Gram matrix
``(transform(X) * signature_) @ transform(Y).T``, with ``transform_right(Y)`` as the right factor
for :class:`AsymmetricNystroem`.

=================================== ============================================= ========
Transformer                         Kernels                                       Signs
=================================== ============================================= ========
:class:`SphericalRandomFeatures`    functions of the distance, on a sphere        positive
:class:`RandomMaclaurin`            polynomials of the inner product              both
:class:`TensorizedRandomProjection` :math:`(\gamma \langle x, y \rangle + c)^p`   positive
:class:`TensorSketch`               :math:`(\gamma \langle x, y \rangle + c)^p`   positive
:class:`KreinNystroem`              every symmetric one; depends on the data      both
:class:`AsymmetricNystroem`         every one; depends on the data                positive
:class:`MultipleKernelFeatures`     combinations of a bank, learned from targets  positive
=================================== ============================================= ========

Maps with positive signs only cannot approximate an indefinite kernel with any number of features.

Two models learn the frequencies, as samples of a Gaussian mixture whose parameters are optimised
while its base samples stay fixed: :class:`ALaCarteRegressor` by marginal likelihood and
:class:`RandomFrequencyClassifier` together with the weights of a logistic model.
"""

from bochner.baselines.a_la_carte import ALaCarteRegressor
from bochner.baselines.multiple_kernels import MultipleKernelFeatures
from bochner.baselines.polynomial_features import (
    RandomMaclaurin,
    TensorizedRandomProjection,
    TensorSketch,
)
from bochner.baselines.random_frequency_classifier import RandomFrequencyClassifier
from bochner.baselines.spherical import SphericalRandomFeatures
from bochner.features.asymmetric_nystroem import AsymmetricNystroem
from bochner.features.nystroem import KreinNystroem

__all__ = [
    "ALaCarteRegressor",
    "AsymmetricNystroem",
    "KreinNystroem",
    "MultipleKernelFeatures",
    "RandomFrequencyClassifier",
    "RandomMaclaurin",
    "SphericalRandomFeatures",
    "TensorSketch",
    "TensorizedRandomProjection",
]
