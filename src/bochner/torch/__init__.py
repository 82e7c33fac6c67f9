"""Features as torch modules, and rows on their way to a device: the extra ``torch``.

>>> from bochner.torch import DeviceChunks, FourierLayer, PositiveAttention  # doctest: +SKIP
"""

from bochner.torch.device_chunks import DeviceChunks
from bochner.torch.fourier_layer import TRAINABLE, FourierLayer
from bochner.torch.positive_attention import PositiveAttention

__all__ = ["TRAINABLE", "DeviceChunks", "FourierLayer", "PositiveAttention"]
