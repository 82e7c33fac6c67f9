r"""What others would use instead: the maps and models that this library is compared with.

The maps are scikit-learn transformers of one interface. ``transform(X)`` has ``n_components``
columns of real features, ``signature_`` their signs, and ``gram(X, Y)`` is the approximate Gram
matrix ``(transform(X) * signature_) @ transform(Y).T``, of which :class:`AsymmetricNystroem` makes
the right factor by a map of its own, ``transform_right``. They do what their papers say; where one
does more, its documentation says so.

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

Maps of positive signs alone cannot reach an indefinite kernel, however many features they have.

Two models learn the frequencies themselves, as those of a Gaussian mixture whose parameters are
optimised while its base samples stay fixed: :class:`ALaCarteRegressor` by marginal likelihood and
:class:`RandomFrequencyClassifier` together with the weights of a logistic model.
"""

from bochner.baselines.a_la_carte import ALaCarteRegressor
from bochner.baselines.asymmetric_nystroem import AsymmetricNystroem
from bochner.baselines.maclaurin import RandomMaclaurin
from bochner.baselines.multiple_kernels import MultipleKernelFeatures
from bochner.baselines.nystroem import KreinNystroem
from bochner.baselines.random_frequency_classifier import RandomFrequencyClassifier
from bochner.baselines.spherical import SphericalRandomFeatures
from bochner.baselines.tensor_sketch import TensorSketch
from bochner.baselines.tensorized import TensorizedRandomProjection

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
