"""
Fingerprints of molecules
=========================

A fingerprint is the set of fragments that a molecule has. The Tanimoto kernel compares two sets:
the size of what they share, divided by the size of what either has. Here molecules are random trees
of atoms, and a property depends on the shares of their fragments.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import RidgeCV
from sklearn.metrics import root_mean_squared_error

from bochner import FourierFeatures, KreinRidge
from bochner.experimental import Tanimoto

rng = np.random.default_rng(0)


def molecule():
    """Return atoms and bonds of a random tree that branches seldom."""
    atoms = rng.choice(list("CCCCCNOS"), rng.integers(6, 18))
    bonds = [(i, max(0, i - 1 - rng.geometric(0.7) // 2)) for i in range(1, len(atoms))]
    return atoms, bonds


def fragments(atoms, bonds):
    """Return the chains of one to five atoms, the same for both directions."""
    near = {i: set() for i in range(len(atoms))}
    for i, j in bonds:
        near[i].add(j)
        near[j].add(i)
    chains = longest = [(i,) for i in near]
    for _ in range(4):
        longest = [(*chain, j) for chain in longest for j in near[chain[-1]] if j not in chain]
        chains = chains + longest
    words = ("".join(atoms[list(chain)]) for chain in chains)
    return [min(word, word[::-1]) for word in words]


molecules = [fragments(*molecule()) for _ in range(1500)]
names = sorted({name for one in molecules for name in one})
counts = np.array([[one.count(name) for name in names] for one in molecules], dtype=float)
sets = (counts > 0).astype(float)
shares = counts / counts.sum(axis=1, keepdims=True)
target = np.sin(2 * np.sqrt(shares) @ rng.normal(size=len(names)))
target += 0.05 * rng.normal(size=len(target))
print(f"{len(names)} fragments, such as {', '.join(names[50:56])}")

# %%
# Features of ``Tanimoto`` are signs of hashes that are equal as often as two sets are similar. The
# estimate is unbiased, with the variance :math:`(1 - k^2) / p`:

train, test = slice(0, 1200), slice(1200, None)
exact = Tanimoto()(sets[test])
sizes = 2 ** np.arange(5, 11)
errors = []
for size in sizes.tolist():
    features = FourierFeatures("tanimoto", size, random_state=0).fit(sets[train])
    errors.append(np.sqrt(np.mean((features.gram(sets[test]) - exact) ** 2)))

# %%
# ``KreinRidge`` on these features is a Gaussian process. Tanimoto has no length scale; that of the
# Gaussian kernel is the median distance.

centre = target[train].mean()
models = {
    "linear": RidgeCV(np.logspace(-2, 3, 12)),
    "gaussian": KreinRidge("gaussian", 1024, alpha="evidence", random_state=0),
    "tanimoto": KreinRidge("tanimoto", 1024, alpha="evidence", random_state=0),
}
found = {}
for name, model in models.items():
    prediction = model.fit(sets[train], target[train] - centre).predict(sets[test]) + centre
    found[name] = root_mean_squared_error(target[test], prediction)
    print(f"{name:8} {found[name]:.3f}")

# %%
# A new molecule's prediction has a standard deviation, which is larger if it resembles none of the
# known ones:

_, std = models["tanimoto"].predict(sets[test], return_std=True)
nearest = Tanimoto()(sets[test], sets[train]).max(axis=1)
print(f"correlation of the deviation and the similarity {np.corrcoef(std, nearest)[0, 1]:.2f}")

fig, (left, right) = plt.subplots(1, 2, figsize=(8, 3.2), layout="constrained")
left.loglog(sizes, errors, "o", label="measured")
left.loglog(sizes, np.sqrt(np.mean(1 - exact**2) / sizes), label="from the formula")
left.set(xlabel="features", ylabel="root mean square error of the kernel")
left.legend()
right.plot(nearest, std, ".")
right.set(xlabel="similarity to the nearest known molecule", ylabel="standard deviation")
plt.show()
