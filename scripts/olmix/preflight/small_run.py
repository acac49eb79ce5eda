"""A small run on the devices against the same run on a CPU: do they compute the same?"""

import torch

from olmix.corpus.store import Corpus
from olmix.model.initialisation import Init
from olmix.model.shapes import ModelShape
from olmix.preflight.place import Place
from olmix.preflight.tolerance import TOLERANCE
from olmix.training.distributed import Processes
from olmix.training.settings import Hardware, RunSettings, data_fingerprint
from olmix.training.trainer import train_run

__all__ = ["differences_from_cpu"]

STEPS, LENGTH, BATCH_OF_EACH = 20, 64, 2
SHAPE = ModelShape("small", 512, 128, 2, 4, 256, LENGTH)


def differences_from_cpu(place: Place, sharding: str) -> dict[str, float]:
    """The largest relative difference of a loss by precision; all processes take part."""
    corpus = place.corpus("small", SHAPE.vocab_size, 100_000)
    settings = _settings(corpus, place.team.count)
    exact = _losses(place, settings, corpus, Hardware(device="cpu", precision="float32"))
    found = {}
    for precision in TOLERANCE:
        hardware = Hardware(precision=precision, sharding=sharding)
        losses = _losses(place, settings, corpus, hardware, place.team)
        pairs = zip(losses, exact, strict=True)
        found[precision] = max(abs(mine - cpu) / cpu for mine, cpu in pairs)
    return found


def _settings(corpus: Corpus, processes: int) -> RunSettings:
    batch = BATCH_OF_EACH * processes
    mix = {"counting": 1.0}
    return RunSettings(
        model=SHAPE,
        mix=mix,
        tokens=STEPS * batch * LENGTH,
        sequence_length=LENGTH,
        batch_size=batch,
        learning_rate=0.003,
        corpus=data_fingerprint(corpus, mix),
        tokenizer=corpus.tokenizer.sha256,
        init=Init("fast"),
        max_repetition=1e6,
    )


def _losses(
    place: Place,
    settings: RunSettings,
    corpus: Corpus,
    hardware: Hardware,
    team: Processes | None = None,
) -> list[float]:
    """The losses of the run; without a team every process trains it for itself, on its CPU."""
    name = f"{hardware.device}-{hardware.precision}"
    if team is None:
        name, team = f"{name}-{place.team.rank}", Processes(torch.device("cpu"))
    folder = place.folder / name
    record = train_run(
        settings, corpus, folder / "run", folder / "state", hardware=hardware, team=team
    )
    return [entry["loss"] for entry in record["losses"]]
