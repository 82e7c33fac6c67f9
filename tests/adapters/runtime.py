"""Graphs evaluated by onnxruntime."""

import numpy as np
import pytest

onnx = pytest.importorskip("onnx")
onnxruntime = pytest.importorskip("onnxruntime")


def session(model):
    """Check a graph in full, and return a session of onnxruntime."""
    onnx.checker.check_model(model, full_check=True)
    return onnxruntime.InferenceSession(
        model.SerializeToString(), providers=["CPUExecutionProvider"]
    )


def evaluate(model, X):
    """Return the outputs of a graph by name, for rows converted to its type."""
    kind = model.graph.input[0].type.tensor_type.elem_type
    rows = np.asarray(X).astype(onnx.helper.tensor_dtype_to_np_dtype(kind))
    running = session(model)
    names = [output.name for output in running.get_outputs()]
    return dict(zip(names, running.run(names, {"X": rows}), strict=True))
