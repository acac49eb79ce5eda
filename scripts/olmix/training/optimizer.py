"""AdamW over few large tensors, the learning-rate schedule and gradient clipping."""

import math
from collections.abc import Iterator

import torch
from torch import Tensor, nn

from olmix.model.transformer import Transformer
from olmix.training.settings import RunSettings

__all__ = ["Optimizer", "learning_rate"]

MOMENTS = ("exp_avg", "exp_avg_sq")


def learning_rate(settings: RunSettings, step: int) -> float:
    """The rate of step ``step`` (from 0): linear warm-up, then a cosine to its final fraction."""
    if step < settings.warmup_steps:
        return settings.learning_rate * (step + 1) / settings.warmup_steps
    left = settings.steps - settings.warmup_steps
    progress = (step + 1 - settings.warmup_steps) / max(1, left)
    floor = settings.final_lr_fraction
    cosine = 0.5 * (1 + math.cos(math.pi * min(1.0, progress)))
    return settings.learning_rate * (floor + (1 - floor) * cosine)


def decays(name: str) -> bool:
    """Whether a parameter is subject to weight decay: not norms and embeddings, as in OLMo 2."""
    return not (name.endswith("norm.weight") or name.startswith("embedding."))


class Optimizer:
    """AdamW for a model's parameters.

    Unless they are sharded over processes, the parameters are laid out in two flat tensors, with
    and without weight decay, of which they become views, and so are their gradients: clipping, a
    step and clearing are then a handful of operations for a model of any depth.
    """

    def __init__(self, model: Transformer, settings: RunSettings, *, sharded: bool = False) -> None:
        """Take over the parameters of ``model``; shard it first if it is to be sharded."""
        self.settings = settings
        self.named = dict(model.named_parameters())
        self.groups = {
            decay: {name: p for name, p in self.named.items() if decays(name) == decay}
            for decay in (True, False)
        }
        self.flat = not sharded
        groups = []
        for decay, members in self.groups.items():
            tensors = list(members.values())
            groups.append(
                {
                    "params": [flatten(tensors)] if self.flat else tensors,
                    "weight_decay": settings.weight_decay if decay else 0.0,
                }
            )
        self.adam = torch.optim.AdamW(
            groups,
            lr=settings.learning_rate,
            betas=(settings.beta1, settings.beta2),
            eps=settings.adam_eps,
            fused=True,
        )
        self.parameters = [p for group in self.adam.param_groups for p in group["params"]]
        for parameter in self.parameters:
            self.adam.state[parameter] = {
                "step": torch.zeros((), device=parameter.device),
                **{moment: torch.zeros_like(parameter) for moment in MOMENTS},
            }

    def step(self, step: int) -> Tensor:
        """Clip the gradients, update the weights with the rate of ``step``, clear the gradients.

        Returns the norm of the gradients before clipping.
        """
        norm = nn.utils.clip_grad_norm_(self.parameters, self.settings.grad_clip)
        for group in self.adam.param_groups:
            group["lr"] = learning_rate(self.settings, step)
        self.adam.step()
        self.adam.zero_grad(set_to_none=not self.flat)
        return norm

    def moments(self) -> Iterator[tuple[str, Tensor]]:
        """The running means, named ``exp_avg.<parameter>`` and ``exp_avg_sq.<parameter>``.

        They are views (or shards) of the optimiser's own tensors; all zero before the first step.
        """
        state = self.adam.state
        for members, group in zip(self.groups.values(), self.adam.param_groups, strict=True):
            for moment in MOMENTS:
                tensors = [state[parameter][moment] for parameter in group["params"]]
                if self.flat:
                    tensors = split_like(tensors[0], list(members.values()))
                yield from zip((f"{moment}.{name}" for name in members), tensors, strict=True)

    def resume(self, steps: int) -> None:
        """Count ``steps`` past steps, as the bias correction must; `moments` are filled apart."""
        for parameter in self.parameters:
            self.adam.state[parameter]["step"].fill_(steps)


def split_like(flat: Tensor, tensors: list[Tensor]) -> list[Tensor]:
    """Views of ``flat`` with the shapes of ``tensors``, one after another."""
    parts = flat.split([tensor.numel() for tensor in tensors])
    return [part.view(tensor.shape) for part, tensor in zip(parts, tensors, strict=True)]


def flatten(parameters: list[nn.Parameter]) -> nn.Parameter:
    """Move ``parameters`` and their gradients into one flat parameter, of which they stay views."""
    with torch.no_grad():
        flat = nn.Parameter(torch.cat([parameter.detach().flatten() for parameter in parameters]))
    flat.grad = torch.zeros_like(flat)
    values, gradients = split_like(flat.detach(), parameters), split_like(flat.grad, parameters)
    for parameter, value, gradient in zip(parameters, values, gradients, strict=True):
        parameter.data = value
        parameter.grad = gradient
    return flat
