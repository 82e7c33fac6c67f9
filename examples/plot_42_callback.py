"""
Follow a fit, and stop it when it no longer improves
====================================================

Fits that take long call a function after each step. Here it records the log evidence of
:class:`bochner.LearnedKernelRegressor`, and ends burn-in when the evidence no longer grows.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.exceptions import ConvergenceWarning

from bochner import LearnedKernelRegressor

rng = np.random.default_rng(0)


def truth(X):
    """Return the noise-free function."""
    return np.sin(4 * X[:, 0]) + np.cos(3 * X[:, 1])


X = rng.uniform(-2, 2, size=(300, 2))
y = truth(X) + 0.2 * rng.normal(size=300)

# %%
# The callback gets a :class:`bochner.FitProgress` with the stage, the step and some figures. It
# returns ``False`` to stop. This one compares the last twenty iterations with the twenty before:


class UntilSettled:
    """Stop when the mean log evidence has grown by less than one over a window of iterations."""

    def __init__(self, window=20):
        self.window, self.values, self.seconds = window, [], []

    def __call__(self, progress):
        """Return whether to go on."""
        self.values.append(progress.figures["log evidence"])
        self.seconds.append(progress.seconds)
        recent = np.array(self.values[-2 * self.window :])
        if len(recent) < 2 * self.window:
            return True
        before, after = recent.reshape(2, -1).mean(axis=1)
        return bool(after - before > 1.0)


def fit(callback):
    """Return a model with one long chain."""
    model = LearnedKernelRegressor(20, n_chains=1, n_burn_in=20, n_samples=100, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        return model.fit(X, y, callback=callback)


# %%
# A function that only records lets the fit go on to its end, since it does not return ``False``:
every, few = [], UntilSettled()
whole = fit(lambda progress: every.append((progress.seconds, progress.figures["log evidence"])))
stopped = fit(few)

new = rng.uniform(-2, 2, size=(2000, 2))
for name, model, count in (("whole", whole, len(every)), ("stopped", stopped, len(few.values))):
    error = np.sqrt(np.mean((model.predict(new) - truth(new)) ** 2))
    print(f"{name:>8}: {count:3d} iterations, root mean square error {error:.3f}")

# %%
figure, ax = plt.subplots(figsize=(7.2, 3.2))
ax.plot(np.arange(1, len(every) + 1), [value for _, value in every], label="whole fit")
ax.plot(np.arange(1, len(few.values) + 1), few.values, linewidth=3, label="stopped by the callback")
ax.set(xlabel="iteration", ylabel="log evidence")
ax.legend(loc="lower right")

# %%
# Next: :doc:`/guide/scikit_learn`.
