"""
Feature importance, and why this prediction
===========================================

A model of the progression of diabetes in 442 patients: which columns it depends on, and what each
column contributes to the prediction for one patient.
"""

from sklearn.datasets import load_diabetes

from bochner import TableRegressor, plot

X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
names = {
    **{"bmi": "body mass", "bp": "blood pressure", "s1": "cholesterol", "s2": "LDL", "s3": "HDL"},
    **{"s4": "cholesterol / HDL", "s5": "triglycerides", "s6": "blood sugar"},
}
X = X.rename(columns=names)
model = TableRegressor(effort="quick", random_state=0).fit(X[:400], y[:400])
patient = X[400:401]
print(patient.round(2).to_string(index=False))

# %%
# The importance of a column is the share of the predictions' variance that is lost if the column is
# averaged over (total Sobol index). :meth:`~bochner.TableRegressor.importance` returns the shares.
plot.relevance(model)

# %%
# Shapley values split the difference between one prediction and the average prediction among the
# columns. Contributions and the average prediction add up to the prediction.
print(model.contributions(patient, random_state=0))

# %%
# Contributions of several rows share their evaluations, so that many rows cost little more than
# one. Their table has the mean absolute contributions:
rows = X[300:]
print(model.contributions(rows, random_state=0))

# %%
# The package shap draws them: ``shap.plots.beeswarm(contributions.to_shap(rows))``, or
# ``shap.plots.waterfall(contributions.to_shap(rows)[0])`` for the first row.

# %%
# Contributions describe the model and not causes: correlated columns share what either could
# explain. Next: :doc:`/guide/tables`; ``bochner explain`` prints the same in the shell.
