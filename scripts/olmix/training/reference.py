"""The reference model of a steered run: the model of another run, which is finished."""

from pathlib import Path

import torch

from olmix.errors import OlmixError
from olmix.files import read_json
from olmix.model.transformer import Transformer
from olmix.model.weights import load_model
from olmix.training.settings import RunSettings

__all__ = ["reference_model"]


def reference_model(
    settings: RunSettings, folder: str | Path | None, device: torch.device
) -> Transformer | None:
    """The model that the run of ``settings`` compares itself with; None if it names none.

    Any other run than the one its settings name is refused.
    """
    wanted = settings.steering.reference if settings.steering else None
    if wanted is None:
        return None
    if folder is None:
        raise OlmixError(f"run settings: the folder of the reference run {wanted} was not given")
    found = read_json(Path(folder) / "run.json").get("hash")
    if found != wanted:
        raise OlmixError(f"{folder}: holds the run {found}, the reference is {wanted}")
    model = load_model(Path(folder) / "weights.safetensors").to(device).eval()
    return model.requires_grad_(False)
