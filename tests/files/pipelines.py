"""A small fitted pipeline for every part of scikit-learn that model files hold."""

from functools import cache

import numpy as np
import pandas as pd
from sklearn import linear_model, preprocessing
from sklearn.compose import TransformedTargetRegressor, make_column_transformer
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.feature_selection import VarianceThreshold
from sklearn.impute import SimpleImputer
from sklearn.pipeline import FeatureUnion, Pipeline, make_pipeline
from sklearn.svm import LinearSVC

from bochner import FourierFeatures, KreinRidge, KreinRidgeClassifier, TableEncoder

N_ROWS = 30
RNG = np.random.default_rng(0)
X = RNG.uniform(0.1, 2.0, size=(N_ROWS, 3))
Y = np.sin(3.0 * X[:, 0])
HOLES = np.where(RNG.random(X.shape) < 0.1, np.nan, X)
TABLE = pd.DataFrame(
    {"size": X[:, 0], "kind": RNG.choice(["a", "b", "c"], N_ROWS), "width": X[:, 1]}
)
LABELS = np.where(Y > 0.0, "high", "low")


def ridge():
    return KreinRidge(n_components=16, random_state=0)


def features():
    return FourierFeatures(n_components=16, random_state=0)


def coded(encoder):
    """Return a ridge regression on a table of numbers and a column of text."""
    text = make_pipeline(SimpleImputer(strategy="most_frequent"), encoder)
    columns = make_column_transformer(
        (preprocessing.StandardScaler(), ["size"]), (text, ["kind"]), remainder="passthrough"
    )
    return make_pipeline(columns, ridge())


def sliced():
    columns = make_column_transformer(
        (preprocessing.MinMaxScaler(), slice(0, 2)), ("drop", [2]), n_jobs=1
    )
    return make_pipeline(columns, ridge())


FIRST = {
    "standard": preprocessing.StandardScaler,
    "not centred": lambda: preprocessing.StandardScaler(with_mean=False),
    "minimum and maximum": preprocessing.MinMaxScaler,
    "maximum": preprocessing.MaxAbsScaler,
    "robust": preprocessing.RobustScaler,
    "norms": preprocessing.Normalizer,
    "quantiles": lambda: preprocessing.QuantileTransformer(
        n_quantiles=10, random_state=np.random.RandomState(0)
    ),
    "powers": preprocessing.PowerTransformer,
    "variances": VarianceThreshold,
    "components": lambda: PCA(2),
    "singular values": lambda: TruncatedSVD(2, random_state=0),
}
LAST = {
    "least squares": linear_model.LinearRegression,
    "ridge": linear_model.Ridge,
    "ridge by cross-validation": linear_model.RidgeCV,
    "lasso": linear_model.Lasso,
    "elastic net": linear_model.ElasticNet,
    "target": lambda: TransformedTargetRegressor(
        linear_model.Ridge(), transformer=preprocessing.StandardScaler()
    ),
}


def after_it(first):
    return lambda: (make_pipeline(first(), ridge()), X, Y)


def before_it(last):
    return lambda: (make_pipeline(features(), last()), X, Y)


PIPELINES = {
    **{name: after_it(first) for name, first in FIRST.items()},
    **{name: before_it(last) for name, last in LAST.items()},
    "logistic": lambda: (
        make_pipeline(features(), linear_model.LogisticRegression()),
        X,
        LABELS,
    ),
    "support vectors": lambda: (make_pipeline(features(), LinearSVC()), X, LABELS.astype(object)),
    "classes of a ridge": lambda: (
        make_pipeline(preprocessing.StandardScaler(), KreinRidgeClassifier(n_components=16)),
        X,
        LABELS,
    ),
    "holes": lambda: (
        make_pipeline(SimpleImputer(), "passthrough", preprocessing.StandardScaler(), ridge()),
        HOLES,
        Y,
    ),
    "one-hot": lambda: (coded(preprocessing.OneHotEncoder(handle_unknown="ignore")), TABLE, Y),
    "rare levels": lambda: (
        coded(preprocessing.OneHotEncoder(min_frequency=11, handle_unknown="infrequent_if_exist")),
        TABLE,
        Y,
    ),
    "one-hot but one": lambda: (
        coded(preprocessing.OneHotEncoder(drop="first", sparse_output=False)),
        TABLE,
        Y,
    ),
    "ordinal": lambda: (coded(preprocessing.OrdinalEncoder()), TABLE, Y),
    "slice": lambda: (sliced(), X, Y),
    "names": lambda: (
        make_pipeline(
            make_column_transformer((preprocessing.StandardScaler(), slice("size", "size"))),
            ridge(),
        ),
        TABLE,
        Y,
    ),
    "union": lambda: (
        make_pipeline(
            FeatureUnion([("a", features()), ("b", "passthrough"), ("c", "drop")]),
            linear_model.Ridge(),
        ),
        X,
        Y,
    ),
    "table": lambda: (make_pipeline(TableEncoder(), ridge()), TABLE, Y),
    "features": lambda: (make_pipeline(preprocessing.StandardScaler(), features()), X, Y),
    "data frame": lambda: (
        make_pipeline(preprocessing.StandardScaler(), features()).set_output(transform="pandas"),
        TABLE[["size", "width"]],
        Y,
    ),
    "head on a target": lambda: (
        TransformedTargetRegressor(ridge(), transformer=preprocessing.PowerTransformer()),
        X,
        Y,
    ),
}


@cache
def fitted(name):
    """Return the pipeline of a name, and its rows."""
    model, rows, y = PIPELINES[name]()
    return model.fit(rows, y), rows


def answers(model, rows):
    """Return everything that a pipeline says of rows, as arrays."""
    methods = ("transform", "predict", "predict_proba", "decision_function")
    found = [getattr(model, name)(rows) for name in methods if hasattr(model, name)]
    if isinstance(model, Pipeline) and isinstance(model[-1], KreinRidge):
        found.extend(model.predict(rows, return_std=True))
    return [np.asarray(each) for each in found]
