"""Features as torch modules, and rows on their way to a device: the extra ``torch``.

>>> from bochner.adapters.torch import FourierLayer, PositiveAttention  # doctest: +SKIP
"""

from bochner.adapters.torch.device_chunks import DeviceChunks
from bochner.adapters.torch.fourier_layer import TRAINABLE, FourierLayer
from bochner.adapters.torch.positive_attention import PositiveAttention

__all__ = ["TRAINABLE", "DeviceChunks", "FourierLayer", "PositiveAttention"]
