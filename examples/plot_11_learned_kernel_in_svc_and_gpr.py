"""
A learned kernel in an SVM and an exact Gaussian process
========================================================

The kernel that :class:`bochner.LearnedKernelRegressor` learns is a function like any other. It can
be handed to a support vector machine, or to scikit-learn's exact Gaussian process.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, Kernel, WhiteKernel
from sklearn.svm import SVC

from bochner import LearnedKernelRegressor

# %%
# A fast wave on a slow one, with a gap in the middle. A Gaussian kernel has to be narrow to follow
# the fast wave, and knows nothing inside the gap.


def truth(t):
    """Return the noise-free function."""
    return np.sin(2 * np.pi * t[:, 0]) + np.sin(0.4 * np.pi * t[:, 0])


rng = np.random.default_rng(0)
t = np.sort(rng.uniform(0, 10, size=160))[:, None]
t = t[(t[:, 0] < 4) | (t[:, 0] > 6)]
y = truth(t) + 0.2 * rng.normal(size=len(t))
learned = LearnedKernelRegressor(20, n_chains=2, n_burn_in=100, n_samples=60, random_state=0).fit(
    t, y
)

# %%
# scikit-learn's Gaussian process wants kernels of its own class. A few lines wrap any function:


class Fixed(Kernel):
    """A kernel k(X, Y) without hyperparameters."""

    def __init__(self, kernel):
        self.kernel = kernel

    def __call__(self, X, Y=None, eval_gradient=False):
        """Return the Gram matrix."""
        gram = self.kernel(X, Y)
        return (gram, np.empty((*gram.shape, 0))) if eval_gradient else gram

    def diag(self, X):
        """Return the diagonal of the Gram matrix."""
        return self.kernel.diag(X)

    def is_stationary(self):
        """Return whether the kernel depends on the lag alone."""
        return True


processes = {
    "Gaussian kernel": GaussianProcessRegressor(RBF() + WhiteKernel(), normalize_y=True),
    "learned kernel": GaussianProcessRegressor(
        Fixed(learned.kernel_) + WhiteKernel(), normalize_y=True
    ),
}

# %%
# Inside the gap the learned kernel continues both waves:
grid = np.linspace(0, 10, 500)[:, None]
figure, axes = plt.subplots(2, 1, figsize=(7.2, 4.6), sharex=True, sharey=True)
for ax, (name, process) in zip(axes, processes.items(), strict=True):
    mean, std = process.fit(t, y).predict(grid, return_std=True)
    ax.fill_between(grid[:, 0], mean - 1.6 * std, mean + 1.6 * std, alpha=0.25, linewidth=0)
    ax.plot(grid[:, 0], mean, label=name)
    ax.plot(grid[:, 0], truth(grid), color="0.4", linestyle="--", linewidth=0.8, label="truth")
    ax.plot(t[:, 0], y, ".", color="0.25", markersize=3)
    ax.legend(ncols=2, loc="upper right", frameon=False)
    print(f"{name}: RMSE {np.sqrt(np.mean((mean - truth(grid)) ** 2)):.2f}")
axes[1].set(xlabel="t", ylim=(-3.2, 4.2))

# %%
# The same kernel in a support vector machine, which learns where the function is above one:
for name, kernel in {"Gaussian kernel": "rbf", "learned kernel": learned.kernel_}.items():
    machine = SVC(kernel=kernel).fit(t, y > 1)
    print(f"{name}: accuracy {machine.score(grid, truth(grid) > 1):.2f}")

# %%
# Next: :doc:`plot_25_learned_kernel` and :doc:`/guide/learned`.
