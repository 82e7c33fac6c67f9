"""Saving a model and loading it."""

import os
import sys
from typing import Any

from bochner._base.file_writing import as_path
from bochner.files.container import ModelFileError, read, write
from bochner.files.stored_classes import is_estimator, is_value, not_saved
from bochner.files.tree import Encoder, decode
from bochner.files.trial import try_out


def save(model: object, path: str | os.PathLike[str]) -> None:
    """Save a model atomically as one safetensors file with a JSON header.

    Parameters
    ----------
    model : estimator, Kernel or Frequencies
        An object of a class of bochner, or of one given to :func:`bochner.register`; fitted or not.
        Pipelines and other estimators of scikit-learn are saved by joblib or skops. A
        ``random_state`` that is a generator is saved as ``None``, and requests for metadata routing
        are left out.
    path : str or path-like
        File to write, usually with the ending ``.bochner``.

    Raises
    ------
    TypeError
        If the model, or a part of it, is of a class that model files do not hold. The message names
        the class.
    ValueError
        If the model holds invalid infinite numbers or NaN, or is only partly fitted.
    ModelFileError
        If ``path`` is a directory or its folder does not exist, or the kernel holds a function, as
        :class:`~bochner.kernels.Radial` does, or :func:`load` would refuse the file.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import bochner
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "kernel.bochner")
    ...     bochner.save(2.0 * bochner.kernels.Matern(0.5), path)
    ...     bochner.load(path)
    2.0 * Matern(length_scale=0.5, nu=1.5)
    """
    target, cls = as_path(path), type(model)
    if not (is_estimator(cls) or is_value(cls)):
        raise TypeError(
            f"bochner saves kernels, frequencies and estimators of registered classes, "
            f"got an object {not_saved(model)} Decorate your own class with bochner.register."
        )
    encoder = Encoder()
    tree = encoder.encode(model)
    try:
        try_out(decode(tree, encoder.tensors), sys.maxsize)
    except Exception as problem:  # any kind, as in load
        reason = " ".join(str(problem).split())
        raise ModelFileError(f"The model would not load, so it is not saved: {reason}") from problem
    write(target, tree, encoder.tensors)


def load(path: str | os.PathLike[str]) -> Any:
    """Return the estimator, kernel or frequencies that :func:`save` wrote; no code is run.

    Predictions equal the predictions of the saved model, bit for bit on the same machine.

    Parameters
    ----------
    path : str or path-like

    Raises
    ------
    ModelFileError
        If the file does not exist, is not a model file, is damaged, comes from a newer version, or
        is inconsistent. The message gives the reason. The error is a ``ValueError``.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import bochner
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     bochner.save(bochner.kernels.Gaussian(2.0), Path(folder, "kernel.bochner"))
    ...     bochner.load(Path(folder, "kernel.bochner"))
    Gaussian(length_scale=2.0)
    """
    file = as_path(path)
    tree, tensors = read(file)
    try:
        model = decode(tree, tensors)
        try_out(model, file.stat().st_size)
    except Exception as problem:  # any kind: nothing of the file is trusted
        reason = " ".join(str(problem).split())
        raise ModelFileError(f"{path} is not a sound model file: {reason}") from problem
    if not (is_estimator(type(model)) or is_value(type(model))):
        raise ModelFileError(f"{path} is not a sound model file: it holds no model.")
    return model
