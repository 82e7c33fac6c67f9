"""
Features for a linear model: faster convergence than RBFSampler
===============================================================

Random features turn a kernel into columns. :class:`bochner.FourierFeatures` needs fewer of them
than :class:`sklearn.kernel_approximation.RBFSampler` for the same error, because its frequencies
are orthogonal.
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
# Error of the Gram matrix, relative to its size, by the number of features: means of ten seeds.
Z = StandardScaler().fit_transform(train)[:400]
scale = 9.0  # Close to the median distance
exact = rbf_kernel(Z, gamma=0.5 / scale**2)
counts = 2 ** np.arange(5, 12)


def error(make, count):
    """Return the mean relative error of features."""
    grams = (make(count, seed).fit_transform(Z) for seed in range(10))
    return np.mean([np.linalg.norm(F @ F.T - exact) / np.linalg.norm(exact) for F in grams])


makers = {
    "RBFSampler": lambda n, seed: RBFSampler(
        gamma=0.5 / scale**2, n_components=n, random_state=seed
    ),
    "FourierFeatures, scheme='iid'": lambda n, seed: FourierFeatures(
        kernels.Gaussian(scale), n, scheme="iid", random_state=seed
    ),
    "FourierFeatures": lambda n, seed: FourierFeatures(
        kernels.Gaussian(scale), n, random_state=seed
    ),
}
figure, ax = plt.subplots(figsize=(7.2, 3.4))
for name, make in makers.items():
    errors = [error(make, int(count)) for count in counts]
    ax.loglog(counts, errors, marker="o", markersize=3, label=name)
    print(f"{name:>30}: {errors[-1]:.4f} with {counts[-1]} features")
ax.set(xlabel="number of features", ylabel="relative error of the Gram matrix")
ax.legend(frameon=False)

# %%
# Next: :doc:`plot_21_sampling_schemes`, :doc:`plot_29_nystroem_or_features` and
# :doc:`/guide/scikit_learn`.
