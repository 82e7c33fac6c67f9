"""Data sets: bundled, generated with a known spectrum, from a folder, or downloaded."""

from bochner.datasets.dataset import Dataset
from bochner.datasets.generated import SpectralDraw, make_gp_draw, make_spectral_mixture
from bochner.datasets.loading import available, load, table_file
from bochner.datasets.parquet import ParquetChunks
from bochner.datasets.remote import downloadable, fetch

__all__ = [
    "Dataset",
    "ParquetChunks",
    "SpectralDraw",
    "available",
    "downloadable",
    "fetch",
    "load",
    "make_gp_draw",
    "make_spectral_mixture",
    "table_file",
]
