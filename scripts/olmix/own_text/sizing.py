"""Model shapes, tokens per run and swarm size for the time and the devices at hand.

Speeds are measured, not guessed. Of the time, a part goes to the proxies, a part to the target runs
that check the proposal, and the rest to everything else. Among the shapes whose runs would see
enough tokens for their size, the largest is taken.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from olmix.errors import OlmixError
from olmix.model.shapes import compact_shapes, shape
from olmix.own_text.speed import Devices, Speed
from olmix.training.presets import preset
from olmix.updates.planning import swarm_size

__all__ = ["ModelSize", "Sizing", "choose_sizes"]

PROXY_SHARE = 0.5
TARGET_SHARE = 0.3
# Mixes the target is trained on: proposed, natural, uniform.
TARGETS = 3
# After an update also the mix before it.
MOST_TARGETS = 4
TARGET_REPEATS = 4
# Runs of a swarm over m domains: c(m+1), as the paper has it; larger only where time is left.
MULTIPLIERS = (3, 4, 5, 6)
# Tokens that a run should see for each parameter it multiplies by. Compute-optimal training takes
# 20; mixes are told apart long before.
TOKENS_PER_PARAMETER = 5.0
# Beyond that more tokens show less of the mix: a larger model makes better use of the time.
MOST_TOKENS_PER_PARAMETER = 100.0
FEWEST_STEPS = 100


@dataclass(frozen=True)
class ModelSize:
    """A model of the scale: its shape, the tokens of a run, and how fast it was measured to be."""

    shape: str
    vocabulary: int
    tokens: int
    speed: Speed

    @property
    def run_seconds(self) -> float:
        """Seconds that one run takes, its scoring included."""
        return self.tokens / self.speed.tokens_per_second + self.speed.evaluation_seconds

    @property
    def parameters(self) -> int:
        """Parameters, both vocabulary matrices included."""
        return shape(self.shape, self.vocabulary).parameters


@dataclass(frozen=True)
class Sizing:
    """What the scale will run, and how long it should take."""

    devices: Devices
    proxy: ModelSize
    multiplier: int  # c of about c(m+1) runs
    runs: int
    target: ModelSize
    target_repeats: int

    @property
    def target_runs(self) -> int:
        """How many target runs there are: every mix, repeated."""
        return TARGETS * self.target_repeats

    @property
    def minutes(self) -> float:
        """Minutes of training and scoring, all devices busy."""
        proxies = self.runs * self.proxy.run_seconds
        targets = self.target_runs * self.target.run_seconds
        return (proxies + targets) / self.devices.count / 60


def choose_sizes(
    domains: int,
    vocabulary: int,
    minutes: float,
    devices: Devices,
    measure: Callable[[str], Speed],
    requested: float,
) -> Sizing:
    """Choose for so many domains and minutes; ``measure`` is asked for as few shapes as needed.

    No run is longer than ``requested``, the tokens of the run that the mix is for.
    """
    shapes = compact_shapes()
    known: dict[str, Speed] = {}

    def speed(name: str) -> Speed:
        if name not in known:
            known[name] = measure(name)
        return known[name]

    budget = 60 * minutes * devices.count
    target_runs = TARGETS * TARGET_REPEATS
    runs = swarm_size(domains, MULTIPLIERS[0])
    proxy = _largest(shapes, vocabulary, PROXY_SHARE * budget / runs, requested, speed)
    if proxy is None:
        raise OlmixError(
            f"{minutes:g} minutes on {devices} are too few for {domains} domains: "
            f"expected {_fewest_minutes(shapes[0], runs, devices, speed(shapes[0])):.0f} or more "
            "(or more devices, or fewer domains)"
        )
    # Runs may have all the tokens they can make use of with time to spare: then there are more.
    affordable = int(PROXY_SHARE * budget / proxy.run_seconds)
    more = [c for c in MULTIPLIERS if swarm_size(domains, c) <= affordable]
    multiplier = max([MULTIPLIERS[0], *more])
    larger = shapes[shapes.index(proxy.shape) :]
    target = _largest(larger, vocabulary, TARGET_SHARE * budget / target_runs, requested, speed)
    if target is None or (target.shape, target.tokens < proxy.tokens) == (proxy.shape, True):
        target = proxy
    runs = swarm_size(domains, multiplier)
    return Sizing(devices, proxy, multiplier, runs, target, TARGET_REPEATS)


def _largest(
    shapes: Sequence[str],
    vocabulary: int,
    seconds: float,
    requested: float,
    speed: Callable[[str], Speed],
) -> ModelSize | None:
    """The largest shape that sees enough tokens in so many seconds, or the smallest that trains.

    None if not even that has the time for the fewest steps.
    """
    chosen = None
    for name in shapes:
        found = _in_time(name, vocabulary, seconds, requested, speed(name))
        enough = TOKENS_PER_PARAMETER * _counted(name, vocabulary)
        if found is None or (chosen is not None and found.tokens < enough):
            break
        chosen = found
    return chosen


def _in_time(
    name: str, vocabulary: int, seconds: float, requested: float, speed: Speed
) -> ModelSize | None:
    """A run of a shape that takes so many seconds, if it has enough steps to be one."""
    recipe = preset(name)
    per_step = recipe.sequence_length * recipe.batch_size
    steps = int((seconds - speed.evaluation_seconds) * speed.tokens_per_second) // per_step
    if steps < FEWEST_STEPS:
        return None
    useful = min(MOST_TOKENS_PER_PARAMETER * _counted(name, vocabulary), requested)
    most = max(FEWEST_STEPS, int(useful) // per_step)
    return ModelSize(name, vocabulary, min(steps, most) * per_step, speed)


def _counted(name: str, vocabulary: int) -> int:
    """The parameters that a token is multiplied by: all but the input embedding."""
    model = shape(name, vocabulary)
    return model.parameters - model.embedding_parameters


def _fewest_minutes(name: str, runs: int, devices: Devices, speed: Speed) -> float:
    recipe = preset(name)
    tokens = FEWEST_STEPS * recipe.sequence_length * recipe.batch_size
    seconds = tokens / speed.tokens_per_second + speed.evaluation_seconds
    needed = seconds * runs / PROXY_SHARE / devices.count / 60
    return max(1.0, -(-needed // 1))
