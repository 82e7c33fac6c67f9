r"""
A kernel that is not positive definite
======================================

The difference of two Gaussians measures contrast: similar rows count positively, rows at a medium
distance negatively. Its Gram matrices have negative eigenvalues, so it has no random features of
the usual kind. Its spectral measure is *signed*, and its features have a sign each.
"""

import matplotlib.pyplot as plt
import numpy as np

from bochner import FourierFeatures, KreinRidge, diagnose, kernels

# sphinx_gallery_thumbnail_number = 2
# The weight 0.6 makes the kernel negative at medium distances
kernel = kernels.Gaussian(0.5) - 0.6 * kernels.Gaussian(1.0)
rng = np.random.default_rng(0)
X = rng.uniform(-2, 2, size=(800, 2))

# %%
# ``diagnose`` analyses the kernel on the rows and recommends an estimator.
found = diagnose(kernel, X[:300], n_components=(128, 512), random_state=0)
print(found)

# %%
# Features satisfy :math:`k(x, y) \approx z(x)^\top J z(y)` with signs ``signature_`` on the
# diagonal of :math:`J`.
features = FourierFeatures(kernel, 1024, random_state=0).fit(X)
lag = np.linspace(0, 3, 200)
line = np.c_[lag, np.zeros(200)]
estimate = features.gram(line, line[:1])[:, 0]
signs = features.signature_
print(f"{np.sum(signs > 0)} positive and {np.sum(signs < 0)} negative features")

figure, axes = plt.subplots(1, 2, figsize=(7.2, 3.0))
axes[0].plot(lag, kernel(line, line[:1])[:, 0], label="kernel")
axes[0].plot(lag, estimate, "--", label="1,024 features")
axes[0].axhline(0, color="0.4", linewidth=0.6)
axes[0].set(xlabel="distance", title="kernel")
axes[0].legend()
values = np.linalg.eigvalsh(kernel(X[:300]))
places = np.arange(len(values))
axes[1].semilogy(places[values > 0], values[values > 0], ".", label="positive")
axes[1].semilogy(places[values < 0], -values[values < 0], ".", label="negative")
axes[1].set(xlabel="number", ylim=(1e-4, None), title="eigenvalues of the Gram matrix")
axes[1].legend()

# %%
# :class:`bochner.KreinRidge` learns with the kernel itself, by its features: as the dense formula
# does, at linear cost. The target is a chessboard with noise.
y = np.sign(np.sin(3 * X[:, 0]) * np.sin(3 * X[:, 1])) + 0.2 * rng.normal(size=800)
model = KreinRidge(kernel, 1024, alpha="evidence", random_state=0).fit(X[:600], y[:600])
K = kernel(X[:600])
# The dense formula, on the same 600 training rows
dense = kernel(X[600:], X[:600]) @ np.linalg.solve(K + model.alpha_ * np.eye(len(K)), y[:600])
print(f"R² of features {model.score(X[600:], y[600:]):.3f}")
print(f"correlation with the dense solution {np.corrcoef(model.predict(X[600:]), dense)[0, 1]:.4f}")

figure, ax = plt.subplots(figsize=(3.6, 2.9))
axis = np.linspace(-2, 2, 120)
grid = np.stack(np.meshgrid(axis, axis), axis=-1).reshape(-1, 2)
surface = ax.contourf(axis, axis, model.predict(grid).reshape(120, 120), 14, cmap="RdBu_r")
ax.scatter(*X[:200].T, c=y[:200], cmap="RdBu_r", s=14, edgecolor="0.2", linewidth=0.4)
ax.set(xlabel="first input", ylabel="second input", xticks=[-2, 0, 2], yticks=[-2, 0, 2])
figure.colorbar(surface, ticks=[-1, 0, 1], label="prediction")

# %%
# Source: Liu, Huang, Chen and Suykens, "Fast learning in reproducing kernel Kreĭn spaces via signed
# measures", 2021. Next: :doc:`/guide/indefinite`.
