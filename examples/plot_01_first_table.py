"""
Predictions with intervals
==========================

A model of ten inputs, its test predictions and their 90 % intervals.
"""

from bochner import TableRegressor, datasets, plot

table = datasets.load("diabetes").to_frame()
inputs, target = table.drop(columns="progression"), table["progression"]
model = TableRegressor(random_state=0).fit(inputs[:400], target[:400])
plot.predictions(model, inputs[400:], target[400:])
