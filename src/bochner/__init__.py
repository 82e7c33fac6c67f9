"""Random Fourier features for every kernel."""

from importlib.metadata import version

from bochner import baselines, datasets, kernels, likelihoods, plot
from bochner._numerics.progress import FitProgress
from bochner.diagnosis import Diagnosis, diagnose
from bochner.estimators.asymmetric_kernel_pca import AsymmetricKernelPCA
from bochner.estimators.asymmetric_kernel_ridge import AsymmetricKernelRidge
from bochner.estimators.asymmetric_pair_ridge import AsymmetricPairRidge
from bochner.estimators.bank_classifier import BaNKClassifier, LearnedKernelClassifier
from bochner.estimators.bank_regressor import BaNKRegressor, LearnedKernelRegressor
from bochner.estimators.digmm_features import DIGMMFeatures, SimilarityFeatures
from bochner.estimators.forecaster import Forecaster
from bochner.estimators.gabasr import (
    GaBaSRClassifier,
    GaBaSRRegressor,
    LocallyStationaryClassifier,
    LocallyStationaryRegressor,
)
from bochner.estimators.gaussian_process_classifier import GaussianProcessClassifier
from bochner.estimators.gaussian_process_regressor import GaussianProcessRegressor
from bochner.estimators.kernel_glm import KernelGLMRegressor
from bochner.estimators.kernel_glm_classifier import KernelGLMClassifier
from bochner.estimators.krein_ridge import KreinRidge
from bochner.estimators.krein_ridge_classifier import KreinRidgeClassifier
from bochner.estimators.table_classifier import TableClassifier
from bochner.estimators.table_regressor import TableRegressor
from bochner.features.positive import PositiveFeatures
from bochner.features.transformer import FourierFeatures
from bochner.frequencies import Frequencies
from bochner.onnx import export_onnx
from bochner.persist import load, save
from bochner.registry import register
from bochner.spectral import spectral_measure
from bochner.tables.encoder import TableEncoder
from bochner.tables.reading import read_table

__version__ = version("bochner")

__all__ = [
    "AsymmetricKernelPCA",
    "AsymmetricKernelRidge",
    "AsymmetricPairRidge",
    "BaNKClassifier",
    "BaNKRegressor",
    "DIGMMFeatures",
    "Diagnosis",
    "FitProgress",
    "Forecaster",
    "FourierFeatures",
    "Frequencies",
    "GaBaSRClassifier",
    "GaBaSRRegressor",
    "GaussianProcessClassifier",
    "GaussianProcessRegressor",
    "KernelGLMClassifier",
    "KernelGLMRegressor",
    "KreinRidge",
    "KreinRidgeClassifier",
    "LearnedKernelClassifier",
    "LearnedKernelRegressor",
    "LocallyStationaryClassifier",
    "LocallyStationaryRegressor",
    "PositiveFeatures",
    "SimilarityFeatures",
    "TableClassifier",
    "TableEncoder",
    "TableRegressor",
    "__version__",
    "baselines",
    "datasets",
    "diagnose",
    "export_onnx",
    "kernels",
    "likelihoods",
    "load",
    "plot",
    "read_table",
    "register",
    "save",
    "spectral_measure",
]
