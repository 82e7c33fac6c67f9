"""
Series and strings as rows
==========================

Rows of this example are sequences of different lengths: digits whose rows of pixels come one after
the other, and names of functions. ``SequenceFeatures`` turns them into columns for a linear model.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import scipy
from sklearn.datasets import load_digits
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression, RidgeClassifierCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from bochner import FourierFeatures
from bochner.experimental import SequenceFeatures

rng = np.random.default_rng(0)
train, test = slice(0, 1000), slice(1000, None)


def classifier():
    """Return a linear classifier of features."""
    return make_pipeline(StandardScaler(), RidgeClassifierCV(np.logspace(-1, 5, 13)))


# %%
# An image of a digit is a series of 8 steps with 8 values each. In the first data set all steps
# last equally long. In the second, each lasts from one to eight times as long, at random. A row of
# zeros precedes each series, because signatures depend on increments only.

images, digits = load_digits().images / 16, load_digits().target
images = np.concatenate((np.zeros((len(images), 1, 8)), images), axis=1)
steady = list(images)
uneven = [np.repeat(image, rng.integers(1, 9, len(image)), axis=0) for image in images]
print(f"lengths from {min(map(len, uneven))} to {max(map(len, uneven))}")

# %%
# Two methods without a kernel of sequences are compared: mean and deviation of each value, and the
# series brought to nine steps by interpolation. Both have Gaussian features.


def moments(series):
    """Return means and deviations, of shape (n, 16)."""
    return np.array([np.concatenate((one.mean(axis=0), one.std(axis=0))) for one in series])


def nine_steps(series):
    """Return the values at nine equidistant times, of shape (n, 72)."""
    times = [np.linspace(0, len(one) - 1, 9) for one in series]
    values = [
        [np.interp(time, np.arange(len(one)), column) for column in one.T]
        for time, one in zip(times, series, strict=True)
    ]
    return np.reshape(values, (len(series), -1))


gaussian = FourierFeatures("gaussian", 1024, random_state=0)
windows = SequenceFeatures("gaussian", 1024, window=3, random_state=0)
signature = SequenceFeatures("gaussian", 1024, method="signature", depth=3, random_state=0)
methods = {
    "mean, deviation": make_pipeline(FunctionTransformer(moments), gaussian),
    "nine steps": make_pipeline(FunctionTransformer(nine_steps), gaussian),
    "windows": windows,
    "signature": signature,
}
shares = pd.DataFrame(index=list(methods), columns=["steady", "uneven"], dtype=float)
for name, features in methods.items():
    for speed, series in (("steady", steady), ("uneven", uneven)):
        model = make_pipeline(features, classifier()).fit(series[train], digits[train])
        shares.loc[name, speed] = model.score(series[test], digits[test])
print(shares.round(3))

# %%
# At a steady speed, each step has its own columns in a table, and no kernel of sequences is needed.
# At an uneven speed the table of nine steps is worse than both kernels. The signature does not
# depend on how long a step lasts, and its share stays the same.
#
# The strings are public names of NumPy, SciPy and pandas that only one of them has. Which library
# does a name come from?

sources = {
    "NumPy": (np, np.linalg, np.fft, np.random, np.ma, np.polynomial),
    "SciPy": (
        scipy.special,
        scipy.stats,
        scipy.optimize,
        scipy.signal,
        scipy.linalg,
        scipy.ndimage,
    ),
    "pandas": (pd, pd.api.types, pd.DataFrame, pd.Series, pd.Index, pd.Timestamp),
}
found = {
    library: {name for part in parts for name in dir(part) if name[0] != "_"}
    for library, parts in sources.items()
}
pairs = [
    (f"  {name}  ", library)
    for library, names in found.items()
    for name in sorted(names)
    if sum(name in others for others in found.values()) == 1
]
names, libraries = map(np.array, zip(*(pairs[i] for i in rng.permutation(len(pairs))), strict=True))
print(pd.Series(libraries).value_counts().to_dict())

# %%
# Windows of three letters with the Gaussian kernel forgive mismatches. They are compared with
# counts of letters and of triples of letters, also on names in which one letter is replaced by a
# random one:


def with_error(name):
    """Return a name with one letter replaced."""
    place = rng.integers(2, len(name) - 2)
    return name[:place] + rng.choice(list("abcdefghijklmnopqrstuvwxyz")) + name[place + 1 :]


def counts(length):
    """Return a classifier by counts of so many letters in a row."""
    letters = CountVectorizer(analyzer="char", ngram_range=(length, length), lowercase=False)
    return make_pipeline(letters, LogisticRegression(C=10, max_iter=5000))


of_letters = {
    "letters": counts(1),
    "triples": counts(3),
    "windows": make_pipeline(windows.set_params(length_scale=0.8), classifier()),
    "signature": make_pipeline(signature.set_params(depth=2), classifier()),
}
wrong = np.array([with_error(name) for name in names])
known = pd.DataFrame(
    index=list(of_letters), columns=["as they are", "one letter wrong"], dtype=float
)
for name, model in of_letters.items():
    model.fit(names[train], libraries[train])
    known.loc[name] = [model.score(rows[test], libraries[test]) for rows in (names, wrong)]
print(known.round(3))

# %%
# Windows are much better than counts of letters, and no better than counts of triples, which are
# exact and faster: here little is gained by forgiving mismatches. Signatures of letters compare
# subsequences with gaps, which help less for these names.

figure, axes = plt.subplots(1, 2, figsize=(8.5, 3.6), layout="constrained")
for ax, table, title in zip(axes, (shares, known), ("Digits", "Libraries of names"), strict=True):
    table.plot.bar(ax=ax, rot=20, width=0.7)
    ax.set(title=title, ylabel="share predicted correctly", ylim=(0.0, 1.25))
    ax.legend(loc="upper center", ncols=2)
plt.show()
