"""
A length scale for every input
==============================

Inputs differ in units and in how fast the target varies along them. The marginal likelihood of
features has a gradient by the length scale of every input, and so finds which inputs matter, and
how.
"""

import matplotlib.pyplot as plt
import numpy as np

from bochner import KreinRidge

rng = np.random.default_rng(0)
names = ["fast", "slow", "in other units", "irrelevant", "irrelevant, too"]
n = 3000  # Half of them to learn from
X = rng.uniform(-2, 2, size=(n, 5)) * [1.0, 1.0, 50.0, 1.0, 1.0]
f = np.sin(4 * X[:, 0]) + np.sin(X[:, 1]) + np.cos(X[:, 2] / 50)
y = f + 0.2 * rng.normal(size=n)
train, test = slice(0, 1500), slice(1500, n)

# %%
# One length scale for all inputs, the median distance, against one for each by evidence:
settings = {"alpha": "evidence", "fit_intercept": True, "random_state": 0}
one = KreinRidge("gaussian", 512, **settings).fit(X[train], y[train])
own = KreinRidge("gaussian", 512, length_scale="evidence", **settings).fit(X[train], y[train])
for name, model in {"median distance": one, "evidence": own}.items():
    error = np.sqrt(np.mean((model.predict(X[test]) - f[test]) ** 2))
    print(f"{name}: RMSE {error:.2f}, log evidence {model.log_evidence_:.0f}")

# %%
# Length scales in standard deviations of the inputs. The target hardly varies along an input whose
# scale is several times its deviation:
scales = np.array(own.kernel_.length_scale) / X[train].std(axis=0)
figure, (left, right) = plt.subplots(1, 2, figsize=(7.6, 2.8), layout="constrained")
left.barh(names[::-1], scales[::-1])
left.set(xscale="log", xlabel="length scale / deviation of the input")
line = np.zeros((200, 5))
line[:, 0] = np.linspace(-2.0, 2.0, 200)
for name, model in {"median distance": one, "evidence": own}.items():
    mean, std = model.predict(line, return_std=True)
    right.plot(line[:, 0], mean, label=name)
    right.fill_between(line[:, 0], mean - 1.645 * std, mean + 1.645 * std, alpha=0.2, linewidth=0)
right.plot(line[:, 0], np.sin(4 * line[:, 0]) + 1.0, "--", color="0.4", linewidth=0.8)
right.set(xlabel="fast", ylabel="target, other inputs zero")
right.legend(frameon=False, loc="lower right")

# %%
# Next: :doc:`plot_30_gp_at_scale` and :doc:`/guide/gaussian_processes`.
