"""Kernel machines and Gaussian processes for tables, series and similarities.

Models follow the scikit-learn API, and predict means, intervals and probabilities.

Tables of numbers, text, dates and gaps
    ``TableRegressor``, ``TableClassifier``; ``read_table`` reads files, ``TableEncoder`` encodes.
Series in time
    ``Forecaster``: trends, seasons and known inputs.
Gaussian processes
    ``GaussianProcessRegressor``, ``GaussianProcessClassifier``: scikit-learn's parameters.
    ``KernelGLMRegressor``, ``KernelGLMClassifier``: counts, outliers, censored and ordered targets.
Random Fourier features of any kernel
    ``FourierFeatures``, ``PositiveFeatures`` for attention, ``SimilarityFeatures`` of a matrix.
Ridge regression on features, with indefinite and asymmetric kernels
    ``KreinRidge``, ``KreinRidgeClassifier``, ``AsymmetricKernelRidge``, ``AsymmetricPairRidge``.
Kernels that are learned
    ``LearnedKernelRegressor``, ``LearnedKernelClassifier``; with noise and amplitudes that vary,
    ``LocallyStationaryRegressor``, ``LocallyStationaryClassifier``.
Tools
    ``kernels``, ``diagnose`` a kernel, ``spectral_measure``, ``Frequencies``, ``plot``, ``save``,
    ``load``, ``register``, ``export_onnx``, ``datasets``, and ``papers`` as printed.

Examples
--------
>>> import numpy as np
>>> import bochner
>>> X = np.linspace(0.0, 6.0, 60)[:, None]
>>> model = bochner.GaussianProcessRegressor(random_state=0).fit(X, np.sin(X[:, 0]))
>>> bool(abs(model.predict([[1.0]])[0] - np.sin(1.0)) < 0.05)
True
"""

# Names are imported when they are first used; type checkers and editors read them below.

from importlib.metadata import version
from typing import TYPE_CHECKING

from bochner._base.on_demand import on_demand

__version__ = version("bochner")

if TYPE_CHECKING:
    from bochner import datasets as datasets
    from bochner import kernels as kernels
    from bochner import papers as papers
    from bochner import plot as plot
    from bochner._base.progress import FitProgress as FitProgress
    from bochner._base.registry import register as register
    from bochner.adapters.onnx import export_onnx as export_onnx
    from bochner.features.positive_features import PositiveFeatures as PositiveFeatures
    from bochner.features.transformer import FourierFeatures as FourierFeatures
    from bochner.files.model_file import load as load
    from bochner.files.model_file import save as save
    from bochner.files.table_reading import read_table as read_table
    from bochner.gaussian_process.gaussian_process_classifier import (
        GaussianProcessClassifier as GaussianProcessClassifier,
    )
    from bochner.gaussian_process.gaussian_process_regressor import (
        GaussianProcessRegressor as GaussianProcessRegressor,
    )
    from bochner.gaussian_process.kernel_glm import KernelGLMClassifier as KernelGLMClassifier
    from bochner.gaussian_process.kernel_glm import KernelGLMRegressor as KernelGLMRegressor
    from bochner.learned.learned_kernel_classifier import (
        LearnedKernelClassifier as LearnedKernelClassifier,
    )
    from bochner.learned.learned_kernel_regressor import (
        LearnedKernelRegressor as LearnedKernelRegressor,
    )
    from bochner.learned.locally_stationary_models import (
        LocallyStationaryClassifier as LocallyStationaryClassifier,
    )
    from bochner.learned.locally_stationary_models import (
        LocallyStationaryRegressor as LocallyStationaryRegressor,
    )
    from bochner.learned.similarity_features import SimilarityFeatures as SimilarityFeatures
    from bochner.linear.asymmetric_kernel_ridge import (
        AsymmetricKernelRidge as AsymmetricKernelRidge,
    )
    from bochner.linear.asymmetric_pair_ridge import AsymmetricPairRidge as AsymmetricPairRidge
    from bochner.linear.diagnosis import diagnose as diagnose
    from bochner.linear.diagnosis_result import Diagnosis as Diagnosis
    from bochner.linear.krein_ridge import KreinRidge as KreinRidge
    from bochner.linear.krein_ridge_classifier import KreinRidgeClassifier as KreinRidgeClassifier
    from bochner.series.forecaster import Forecaster as Forecaster
    from bochner.spectral.decompositions import spectral_measure as spectral_measure
    from bochner.spectral.frequencies import Frequencies as Frequencies
    from bochner.tables.encoder import TableEncoder as TableEncoder
    from bochner.tables.table_classifier import TableClassifier as TableClassifier
    from bochner.tables.table_regressor import TableRegressor as TableRegressor
else:
    __getattr__, __dir__, __all__ = on_demand(__name__)
