"""Kernel machines and Gaussian processes for tables, series and similarities.

Models follow the scikit-learn API, and predict means, intervals and probabilities.

- :class:`TableRegressor` and :class:`TableClassifier` fit tables of numbers, text and dates, with
  missing entries; :func:`read_table` reads them from files.
- :class:`Forecaster` forecasts series with trends, seasons and known inputs.
- :class:`GaussianProcessRegressor` and :class:`GaussianProcessClassifier` have the parameters of
  scikit-learn.
- :class:`KreinRidge`, :class:`KreinRidgeClassifier`, :class:`LearnedKernelRegressor` and others are
  kernel machines on arrays, with any kernel of :mod:`bochner.kernels`, or with a learned kernel.
- :class:`FourierFeatures` are random Fourier features of any kernel, :func:`diagnose` analyses one.
- :func:`save` and :func:`load` write and read fitted models, and :mod:`bochner.plot` draws them.

Examples
--------
>>> import numpy as np
>>> import bochner
>>> X = np.linspace(0.0, 6.0, 60)[:, None]
>>> model = bochner.GaussianProcessRegressor(random_state=0).fit(X, np.sin(X[:, 0]))
>>> bool(abs(model.predict([[1.0]])[0] - np.sin(1.0)) < 0.05)
True
"""

# Names are imported when they are first used. They are stated twice: for type checkers and editors,
# and with their modules for Python; a test checks that both agree.

from importlib.metadata import version
from typing import TYPE_CHECKING

from bochner._numerics.on_demand import on_demand

__version__ = version("bochner")

if TYPE_CHECKING:
    from bochner import datasets as datasets
    from bochner import kernels as kernels
    from bochner import likelihoods as likelihoods
    from bochner import plot as plot
    from bochner._numerics.progress import FitProgress as FitProgress
    from bochner.diagnosis import Diagnosis as Diagnosis
    from bochner.diagnosis import diagnose as diagnose
    from bochner.estimators.asymmetric_kernel_ridge import (
        AsymmetricKernelRidge as AsymmetricKernelRidge,
    )
    from bochner.estimators.asymmetric_pair_ridge import AsymmetricPairRidge as AsymmetricPairRidge
    from bochner.estimators.bank_classifier import (
        LearnedKernelClassifier as LearnedKernelClassifier,
    )
    from bochner.estimators.bank_regressor import LearnedKernelRegressor as LearnedKernelRegressor
    from bochner.estimators.digmm_features import SimilarityFeatures as SimilarityFeatures
    from bochner.estimators.forecaster import Forecaster as Forecaster
    from bochner.estimators.gabasr import LocallyStationaryClassifier as LocallyStationaryClassifier
    from bochner.estimators.gabasr import LocallyStationaryRegressor as LocallyStationaryRegressor
    from bochner.estimators.gaussian_process_classifier import (
        GaussianProcessClassifier as GaussianProcessClassifier,
    )
    from bochner.estimators.gaussian_process_regressor import (
        GaussianProcessRegressor as GaussianProcessRegressor,
    )
    from bochner.estimators.kernel_glm import KernelGLMRegressor as KernelGLMRegressor
    from bochner.estimators.kernel_glm_classifier import KernelGLMClassifier as KernelGLMClassifier
    from bochner.estimators.krein_ridge import KreinRidge as KreinRidge
    from bochner.estimators.krein_ridge_classifier import (
        KreinRidgeClassifier as KreinRidgeClassifier,
    )
    from bochner.estimators.table_classifier import TableClassifier as TableClassifier
    from bochner.estimators.table_regressor import TableRegressor as TableRegressor
    from bochner.features.positive import PositiveFeatures as PositiveFeatures
    from bochner.features.transformer import FourierFeatures as FourierFeatures
    from bochner.frequencies import Frequencies as Frequencies
    from bochner.onnx import export_onnx as export_onnx
    from bochner.persist import load as load
    from bochner.persist import save as save
    from bochner.registry import register as register
    from bochner.spectral import spectral_measure as spectral_measure
    from bochner.tables.encoder import TableEncoder as TableEncoder
    from bochner.tables.reading import read_table as read_table
else:
    __getattr__, __dir__, __all__ = on_demand(
        __name__,
        {
            "bochner.datasets": (),
            "bochner.kernels": (),
            "bochner.likelihoods": (),
            "bochner.plot": (),
            "bochner._numerics.progress": ("FitProgress",),
            "bochner.diagnosis": ("Diagnosis", "diagnose"),
            "bochner.estimators.asymmetric_kernel_ridge": ("AsymmetricKernelRidge",),
            "bochner.estimators.asymmetric_pair_ridge": ("AsymmetricPairRidge",),
            "bochner.estimators.bank_classifier": ("LearnedKernelClassifier",),
            "bochner.estimators.bank_regressor": ("LearnedKernelRegressor",),
            "bochner.estimators.digmm_features": ("SimilarityFeatures",),
            "bochner.estimators.forecaster": ("Forecaster",),
            "bochner.estimators.gabasr": (
                "LocallyStationaryClassifier",
                "LocallyStationaryRegressor",
            ),
            "bochner.estimators.gaussian_process_classifier": ("GaussianProcessClassifier",),
            "bochner.estimators.gaussian_process_regressor": ("GaussianProcessRegressor",),
            "bochner.estimators.kernel_glm": ("KernelGLMRegressor",),
            "bochner.estimators.kernel_glm_classifier": ("KernelGLMClassifier",),
            "bochner.estimators.krein_ridge": ("KreinRidge",),
            "bochner.estimators.krein_ridge_classifier": ("KreinRidgeClassifier",),
            "bochner.estimators.table_classifier": ("TableClassifier",),
            "bochner.estimators.table_regressor": ("TableRegressor",),
            "bochner.features.positive": ("PositiveFeatures",),
            "bochner.features.transformer": ("FourierFeatures",),
            "bochner.frequencies": ("Frequencies",),
            "bochner.onnx": ("export_onnx",),
            "bochner.persist": ("load", "save"),
            "bochner.registry": ("register",),
            "bochner.spectral": ("spectral_measure",),
            "bochner.tables.encoder": ("TableEncoder",),
            "bochner.tables.reading": ("read_table",),
        },
    )
