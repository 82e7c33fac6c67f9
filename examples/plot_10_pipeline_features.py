"""
Features for a linear model: smaller errors than RBFSampler
===========================================================

Random features turn a kernel into columns. :class:`bochner.FourierFeatures` needs fewer of them
than :class:`sklearn.kernel_approximation.RBFSampler` for the same error, because its frequencies
are spread out evenly.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.kernel_approximation import RBFSampler
from sklearn.linear_model import LogisticRegression
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from bochner import FourierFeatures, kernels

X, y = load_digits(return_X_y=True)
train, test, y_train, y_test = train_test_split(X, y, random_state=0)

# %%
# In a pipeline the features are a step like any other. The default length scale is the median
# distance of rows.
model = make_pipeline(
    StandardScaler(), FourierFeatures("gaussian", 1024, random_state=0), LogisticRegression(C=10)
)
print(f"accuracy {model.fit(train, y_train).score(test, y_test):.3f}")
linear = make_pipeline(StandardScaler(), LogisticRegression(C=10, max_iter=1000))
print(f"without features {linear.fit(train, y_train).score(test, y_test):.3f}")

# %%
# Error of the Gram matrix, relative to its size, by the number of features: means of five seeds.
Z = StandardScaler().fit_transform(train)[:400]
scale = 9.0  # Close to the median distance
exact = rbf_kernel(Z, gamma=0.5 / scale**2)
# Powers of two to the number of rows, beyond which an exact kernel is cheaper
counts = 2 ** np.arange(5, 12)


def error(make, count):
    """Return the mean relative error of features."""
    grams = (make(count, seed).fit_transform(Z) for seed in range(5))
    return np.mean([np.linalg.norm(F @ F.T - exact) / np.linalg.norm(exact) for F in grams])


makers = {
    "FourierFeatures": lambda n, seed: FourierFeatures(
        kernels.Gaussian(scale), n, random_state=seed
    ),
    "RBFSampler": lambda n, seed: RBFSampler(
        gamma=0.5 / scale**2, n_components=n, random_state=seed
    ),
}
figure, ax = plt.subplots(figsize=(3.6, 2.5))
for name, make in makers.items():
    errors = [error(make, int(count)) for count in counts]
    ax.loglog(counts, errors, marker="o", markersize=5, label=name)
    print(f"{name:>30}: {errors[-1]:.4f} with {counts[-1]} features")
ax.set(xlabel="number of features", ylabel="error of the kernel matrix")
ax.set_xticks([32, 128, 512, 2048], ["32", "128", "512", "2,048"])
ax.set_yticks([0.02, 0.05, 0.1, 0.2], ["2 %", "5 %", "10 %", "20 %"])
ax.minorticks_off()
ax.legend()

# %%
# 64 frequencies of a Gaussian kernel on two inputs, by scheme. Independent ones leave gaps and form
# clusters. Those of least energy repel each other; they are the default in at most 64 inputs.
schemes = {"iid": "independent", "orthogonal": "orthogonal blocks", "energy": "least energy"}
figure, axes = plt.subplots(1, 3, figsize=(6.9, 2.5), sharex=True, sharey=True)
for ax, (scheme, title) in zip(axes, schemes.items(), strict=True):
    features = FourierFeatures(kernels.Gaussian(1.0), 128, scheme=scheme, random_state=0)
    omega = features.fit(Z[:, :2]).frequencies_.omega
    ax.plot(*omega.T, ".", markersize=4)
    ax.set(title=title, xlim=(-4, 4), ylim=(-4, 4), aspect="equal")

# %%
# Next: :doc:`/guide/scikit_learn` and :doc:`/results/schemes`.
