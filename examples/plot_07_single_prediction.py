"""
Why this prediction: contributions of columns
=============================================

Shapley values split the difference between one prediction and the average prediction among the
columns.
"""

from sklearn.datasets import load_diabetes

from bochner import TableRegressor, plot

X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
model = TableRegressor(effort="quick", random_state=0).fit(X[:400], y[:400])
patient = X[400:401]
print(patient.round(2).to_string(index=False))

# %%
# Contributions and the average prediction add up to the prediction.
found = model.contributions(patient, random_state=0)
print(found)

# %%
# As a picture, the largest contribution on top:
plot.waterfall(found, patient, label="progression")

# %%
# Contributions of several rows share their evaluations, so that many rows cost little more than
# one. Each point is a patient; a high body mass index (orange) raises the prediction:
rows = X[300:]
many = model.contributions(rows, random_state=0)
plot.beeswarm(many, rows, label="progression")

# %%
# Contributions describe the model and not causes: correlated columns share what either could
# explain. Next: :doc:`/guide/tables`; ``bochner explain`` prints the same in the shell.
