"""Reading of tables from files, and saving and loading of model files."""

from typing import TYPE_CHECKING

from bochner._base.on_demand import on_demand

if TYPE_CHECKING:
    from bochner.files.safetensors_container import ModelFileError as ModelFileError
else:
    __getattr__, __dir__, __all__ = on_demand(__name__)
