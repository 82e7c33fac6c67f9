"""Random Fourier features for every kernel."""

from bochner import datasets, kernels
from bochner.estimators.krein_ridge import KreinRidge
from bochner.estimators.krein_ridge_classifier import KreinRidgeClassifier
from bochner.features.transformer import FourierFeatures
from bochner.frequencies import Frequencies
from bochner.spectral import spectral_measure

__all__ = [
    "FourierFeatures",
    "Frequencies",
    "KreinRidge",
    "KreinRidgeClassifier",
    "datasets",
    "kernels",
    "spectral_measure",
]
