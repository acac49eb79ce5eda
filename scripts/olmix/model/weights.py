"""A model's weights on disk: one safetensors file that carries its own shape."""

import json
from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from torch import Tensor

from olmix.errors import OlmixError
from olmix.files import replacing
from olmix.model.shapes import ModelShape
from olmix.model.transformer import Transformer

__all__ = ["load_model", "read_metadata", "save_weights"]


def save_weights(
    path: str | Path, shape: ModelShape, tensors: dict[str, Tensor], settings_hash: str = ""
) -> None:
    """Write ``tensors`` with the model's shape and the hash of the run that made them."""
    metadata = {"shape": json.dumps(shape.to_dict()), "settings_hash": settings_hash}
    # Clones: safetensors refuses views of one another's memory, which trained weights are.
    owned = {name: tensor.detach().cpu().clone() for name, tensor in tensors.items()}
    with replacing(path) as temporary:
        save_file(owned, temporary, metadata)


def read_metadata(path: str | Path) -> dict[str, str]:
    """The metadata of a weights file: its ``shape`` (as JSON) and ``settings_hash``."""
    with _opened(path) as file:
        metadata = file.metadata() or {}
    if "shape" not in metadata:
        raise OlmixError(
            f"{path}: no model shape in its metadata; expected weights of this trainer"
        )
    return metadata


def load_model(path: str | Path, device: str | torch.device = "cpu") -> Transformer:
    """The model whose weights `save_weights` wrote at ``path``, ready to be evaluated."""
    shape = ModelShape.from_dict(json.loads(read_metadata(path)["shape"]))
    with torch.device("meta"):
        model = Transformer(shape)
    with _opened(path, str(device)) as file:
        tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    try:
        model.load_state_dict(tensors, assign=True)
    except RuntimeError as error:
        reason = " ".join(str(error).split())
        raise OlmixError(f"{path}: weights do not fit shape {shape.name!r} ({reason})") from error
    model.reset_rotary()
    return model.eval()


def _opened(path: str | Path, device: str = "cpu") -> safe_open:
    """Open a safetensors file; a missing or damaged one is refused by name."""
    if not Path(path).is_file():
        raise OlmixError(f"{path}: no such weights file")
    try:
        return safe_open(str(path), framework="pt", device=device)
    except SafetensorError as error:
        raise OlmixError(f"{path}: not a whole safetensors file ({error})") from error
