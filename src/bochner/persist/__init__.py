"""Model files: safetensors tensors and one JSON header, loaded without running any code."""

from bochner.persist.container import ModelFileError
from bochner.persist.model_file import load, save

__all__ = ["ModelFileError", "load", "save"]
