"""ONNX graphs of fitted models, which other runtimes and languages evaluate without Python."""

from bochner.adapters.onnx.export import export_onnx

__all__ = ["export_onnx"]
