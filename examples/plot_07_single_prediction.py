"""
Why this prediction: contributions of columns
=============================================

Shapley values split the difference between one prediction and the average prediction among the
columns.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_diabetes

from bochner import TableRegressor

X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
model = TableRegressor(effort="quick", random_state=0).fit(X[:400], y[:400])
patient = X[400:401]
print(patient.round(2).to_string(index=False))

# %%
# Contributions and the average prediction add up to the prediction.
found = model.contributions(patient, random_state=0)
print(found)

# %%
# As a picture, the largest contribution first:
values = found.values[0]
order = np.argsort(np.abs(values))
figure, ax = plt.subplots(figsize=(7.2, 3.2))
colours = ["C0" if value > 0 else "C1" for value in values[order]]
ax.barh(np.arange(len(order)), values[order], color=colours)
names = [f"{X.columns[i]} = {patient.iloc[0, i]:.4g}" for i in order]
ax.set_yticks(range(len(order)), names)
ax.axvline(0.0, color="0.3", linewidth=0.8)
ax.set_xlabel("contribution to predicted progression")

# %%
# Contributions of several rows share their evaluations, so that many rows cost little more than
# one:
many = model.contributions(X[400:], random_state=0)
largest = X.columns[np.abs(many.values).argmax(axis=1)].value_counts()
print(largest.to_string())

# %%
# Contributions describe the model and not causes: correlated columns share what either could
# explain. Next: :doc:`/guide/tables`; ``bochner explain`` prints the same in the shell.
