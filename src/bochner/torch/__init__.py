"""Features as torch modules: the extra ``torch``.

>>> from bochner.torch import FourierLayer, PositiveAttention  # doctest: +SKIP
"""

from bochner.torch.fourier_layer import TRAINABLE, FourierLayer
from bochner.torch.positive_attention import PositiveAttention

__all__ = ["TRAINABLE", "FourierLayer", "PositiveAttention"]
