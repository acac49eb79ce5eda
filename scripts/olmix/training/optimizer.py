"""AdamW over few large tensors, the learning-rate schedule and gradient clipping."""

import math
from collections.abc import Iterator

import torch
from torch import Tensor, nn
from torch.optim.adamw import adamw

from olmix.errors import OlmixError
from olmix.model.transformer import Transformer
from olmix.training.settings import RunSettings

__all__ = ["Optimizer", "learning_rate"]

MOMENTS = ("exp_avg", "exp_avg_sq")


def learning_rate(settings: RunSettings, step: int) -> float:
    """The rate of step ``step`` (from 0): linear warm-up, a cosine, and a linear decay.

    The cosine aims at its final fraction at the end of the run. It is left for the decay where
    that begins: in the last step the rate is one step short of nothing.
    """
    decay = settings.decay_steps
    if step >= settings.steps - decay:
        start = _warmup_and_cosine(settings, settings.steps - decay - 1)
        return start * (settings.steps - step) / (decay + 1)
    return _warmup_and_cosine(settings, step)


def _warmup_and_cosine(settings: RunSettings, step: int) -> float:
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

    Unless they are sharded over processes, the parameters become views of one flat tensor, and so
    do their gradients: clipping, a step and clearing are then a handful of operations for a model
    of any depth. Weight decay is a multiplication before the step, as AdamW defines it.
    """

    def __init__(self, model: Transformer, settings: RunSettings, *, sharded: bool = False) -> None:
        """Take over the parameters of ``model``; shard it first if it is to be sharded."""
        self.settings = settings
        # Those with weight decay first, so that they are one slice of the flat tensor.
        named = sorted(model.named_parameters(), key=lambda item: not decays(item[0]))
        self.names = [name for name, _ in named]
        self.tensors: list[Tensor] = [parameter for _, parameter in named]
        decaying = sum(decays(name) for name in self.names)
        self.flat = not sharded
        if self.flat:
            flat = flatten(self.tensors)
            self.parameters: list[Tensor] = [flat]
            size = sum(tensor.numel() for tensor in self.tensors[:decaying])
            self.decaying = [flat.detach()[:size]]
        else:
            self.parameters = self.tensors
            self.decaying = self.tensors[:decaying]
        self.counts = [torch.zeros((), device=p.device) for p in self.parameters]
        self.means, self.squares = (
            [torch.zeros_like(p, requires_grad=False) for p in self.parameters] for _ in MOMENTS
        )

    def step(self, step: int) -> Tensor:
        """Clip the gradients, update the weights with the rate of ``step``, clear the gradients.

        Returns the norm of the gradients before clipping.
        """
        settings, rate = self.settings, learning_rate(self.settings, step)
        norm = self._clip(settings.grad_clip)
        gradients = [gradient_of(parameter) for parameter in self.parameters]
        with torch.no_grad():
            if settings.weight_decay:
                torch._foreach_mul_(self.decaying, 1 - rate * settings.weight_decay)
            # The function behind torch.optim.AdamW: the class costs a second of imports.
            adamw(
                self.parameters,
                gradients,
                self.means,
                self.squares,
                [],
                self.counts,
                beta1=settings.beta1,
                beta2=settings.beta2,
                lr=rate,
                weight_decay=0.0,
                eps=settings.adam_eps,
                amsgrad=False,
                maximize=False,
                fused=True,
            )
        self.clear()
        return norm

    def clear(self) -> None:
        """Forget the gradients."""
        for parameter in self.parameters:
            if self.flat:
                gradient_of(parameter).zero_()  # the model's gradients are views of it
            else:
                parameter.grad = None

    def _clip(self, largest: float) -> Tensor:
        """Scale the gradients down to the norm ``largest``; their norm before."""
        if not self.flat:
            return nn.utils.clip_grad_norm_(self.parameters, largest)
        # The same on one tensor, without looking for devices and types at every step.
        gradient = gradient_of(self.parameters[0])
        norm = torch.linalg.vector_norm(gradient)
        gradient.mul_((largest / (norm + 1e-6)).clamp_(max=1.0))
        return norm

    def moments(self) -> Iterator[tuple[str, Tensor]]:
        """The running means, named ``exp_avg.<parameter>`` and ``exp_avg_sq.<parameter>``.

        They are views (or shards) of the optimiser's own tensors; all zero before the first step.
        """
        for moment, tensors in zip(MOMENTS, (self.means, self.squares), strict=True):
            if self.flat:
                tensors = split_like(tensors[0], self.tensors)
            yield from zip((f"{moment}.{name}" for name in self.names), tensors, strict=True)

    def resume(self, steps: int) -> None:
        """Count ``steps`` past steps, as the bias correction must; `moments` are filled apart."""
        for count in self.counts:
            count.fill_(steps)


def gradient_of(parameter: Tensor) -> Tensor:
    """The gradient that a pass has left."""
    if parameter.grad is None:
        raise OlmixError(f"a parameter of {tuple(parameter.shape)} has no gradient")
    return parameter.grad


def split_like(flat: Tensor, tensors: list[Tensor]) -> list[Tensor]:
    """Views of ``flat`` with the shapes of ``tensors``, one after another."""
    parts = flat.split([tensor.numel() for tensor in tensors])
    return [part.view(tensor.shape) for part, tensor in zip(parts, tensors, strict=True)]


def flatten(parameters: list[Tensor]) -> nn.Parameter:
    """Move ``parameters`` and their gradients into one flat parameter, of which they stay views."""
    with torch.no_grad():
        flat = nn.Parameter(torch.cat([parameter.detach().flatten() for parameter in parameters]))
    flat.grad = torch.zeros_like(flat)
    values, gradients = split_like(flat.detach(), parameters), split_like(flat.grad, parameters)
    for parameter, value, gradient in zip(parameters, values, gradients, strict=True):
        parameter.data = value
        parameter.grad = gradient
    return flat
