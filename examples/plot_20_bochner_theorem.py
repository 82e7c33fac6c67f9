r"""
From a kernel to features: Bochner's theorem
============================================

A stationary positive definite kernel is the average of waves whose frequencies come from a
probability distribution, its *spectral measure*. Draw frequencies, and the kernel is an inner
product of features. This is how a kernel machine becomes a linear model.
"""

import matplotlib.pyplot as plt
import numpy as np

from bochner import FourierFeatures, kernels

# sphinx_gallery_thumbnail_number = 2

# %%
# The library uses the angular convention, :math:`k(x - y) = \int e^{i \omega \cdot (x - y)}
# \mu(d\omega)`. Three kernels and the densities of their frequencies:
lag, omega = np.linspace(-4, 4, 401)[:, None], np.linspace(-6, 6, 401)
closed_forms = {
    "Gaussian": (kernels.Gaussian(1.0), np.exp(-0.5 * omega**2) / np.sqrt(2 * np.pi)),
    "Laplacian": (kernels.Laplacian(1.0), 1 / (np.pi * (1 + omega**2))),
    "Cauchy": (kernels.Cauchy(1.0), 0.5 * np.exp(-np.abs(omega))),
}
figure, axes = plt.subplots(1, 2, figsize=(7.2, 2.8))
for name, (kernel, density) in closed_forms.items():
    axes[0].plot(lag[:, 0], kernel(lag, [[0.0]])[:, 0], label=name)
    axes[1].plot(omega, density, label=name)
axes[0].set(xlabel="lag $x - y$", title="kernel")
axes[1].set(xlabel=r"frequency $\omega$", title="density of frequencies")
axes[0].legend()

# %%
# With :math:`m` frequencies there are :math:`2m` features, a cosine and a sine each, and
# :math:`z(x)^\top z(y)` is an estimate of the kernel without bias. More frequencies make it better:
kernel = kernels.Gaussian(1.0)
figure, ax = plt.subplots(figsize=(3.6, 2.5))
for count in (10, 100, 1000):
    features = FourierFeatures(kernel, count, scheme="iid", random_state=0).fit(lag)
    ax.plot(lag[:, 0], features.gram(lag, [[0.0]])[:, 0], label=f"{count:,} features")
ax.plot(lag[:, 0], kernel(lag, [[0.0]])[:, 0], "--", color="0.2", label="kernel")
ax.set(xlabel="lag $x - y$", ylabel="similarity")
ax.legend(loc="upper right", fontsize=6)

# %%
# The error falls like :math:`1/\sqrt{m}`. For one pair the variance is known: with independent
# frequencies it is :math:`(1 + k(2\Delta) - 2 k(\Delta)^2) / 2m`.
counts = 2 ** np.arange(3, 12)
pair = np.array([[0.0, 0.0], [0.7, 0.2]])
measured = [
    np.std(
        [
            FourierFeatures(kernel, 2 * count, scheme="iid", random_state=seed)
            .fit(pair)
            .gram(pair)[0, 1]
            for seed in range(100)
        ]
    )
    for count in counts
]
# The kernel at the lag and at twice the lag
once, twice = kernel(pair[:1], pair[1:])[0, 0], kernel(pair[:1], 2 * pair[1:])[0, 0]
known = np.sqrt((1 + twice - 2 * once**2) / (2 * counts))
print("measured / known:", np.round(measured / known, 2))
figure, ax = plt.subplots(figsize=(3.6, 2.5))
ax.loglog(counts, known, label="known")
ax.loglog(counts, measured, "o", markersize=4, label="measured, 100 seeds")
ax.set(xlabel="number of frequencies $m$", ylabel="standard deviation")
ax.legend()

# %%
# Next: :doc:`plot_10_pipeline_features` has smaller errors with as many frequencies;
# :doc:`/mathematics/index` has the proofs.
