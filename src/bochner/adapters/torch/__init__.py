"""Features as torch modules: the extra ``torch``.

>>> from bochner.adapters.torch import FourierLayer, PositiveAttention  # doctest: +SKIP
"""

from bochner.adapters.torch.fourier_layer import TRAINABLE, FourierLayer
from bochner.adapters.torch.positive_attention import PositiveAttention

__all__ = ["TRAINABLE", "FourierLayer", "PositiveAttention"]
