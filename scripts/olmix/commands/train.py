"""`python -m olmix train`: train one run, or every run of a list, and resume what was left."""

import argparse
import contextlib
import json
import logging
import os
import signal
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from olmix.commands.outputs import output_folder
from olmix.errors import OlmixError
from olmix.files import read_json
from olmix.proposers.proposal import read_mix
from olmix.training.gpus import own_gpus
from olmix.training.launch import Start, launch_command, started, time_limit
from olmix.training.sharding import SHARDINGS

if TYPE_CHECKING:
    from olmix.corpus.store import Corpus
    from olmix.training.deadline import Deadline
    from olmix.training.distributed import Processes
    from olmix.training.scores import Scores
    from olmix.training.settings import RunSettings, SteeringSettings
    from olmix.training.swarm_runner import RunRequest

HELP = "train a model on a mix of a corpus, or every run of a list"

EXIT_FAILED = 1


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of `python -m olmix train`."""
    _add_run_arguments(parser.add_argument_group("one run"))
    _add_steering_arguments(parser.add_argument_group("a mix that an algorithm moves"))
    _add_science_arguments(parser.add_argument_group("its settings (defaults: the shape's preset)"))
    many = parser.add_argument_group("many runs")
    many.add_argument(
        "--runs", metavar="JSON", help='list of {"folder", "corpus", "settings"}, instead of --out'
    )
    _add_evaluation_arguments(parser.add_argument_group("evaluation (default: none)"))
    _add_hardware_arguments(parser.add_argument_group("hardware (never changes what is trained)"))
    _add_job_arguments(parser.add_argument_group("what a job was given (default: this process)"))


def _add_run_arguments(group: argparse._ArgumentGroup) -> None:
    add = group.add_argument
    add("--corpus", metavar="DIR", help="folder of tokenised domains")
    add(
        "--out",
        type=output_folder,
        metavar="DIR",
        help="folder of the run: weights.safetensors and run.json",
    )
    add("--shape", default="tiny-30m", help="name of the model's shape (default: tiny-30m)")
    add(
        "--mix",
        default="natural",
        metavar="MIX",
        help="a mix's JSON file, 'natural', or name=weight,name=weight (default: natural)",
    )
    add(
        "--change",
        action="append",
        default=[],
        metavar="AT=MIX",
        help="another mix from a fraction of training on, such as 0.8=mix.json (may be repeated)",
    )
    add("--tokens", type=int, metavar="N", help="tokens to train on, rounded up to whole batches")


def _add_steering_arguments(group: argparse._ArgumentGroup) -> None:
    group.add_argument(
        "--steer",
        metavar="NAME",
        help="odm, ado, skill_it or aioli: the mix; doremi or doge: the weights of the domains",
    )
    group.add_argument(
        "--steer-setting",
        action="append",
        default=[],
        metavar="KEY=VALUE",
        help="a setting of the algorithm, as JSON, such as updates=50 (may be repeated)",
    )
    group.add_argument(
        "--reference", metavar="DIR", help="finished run that doremi compares the losses with"
    )


def _add_science_arguments(group: argparse._ArgumentGroup) -> None:
    add = group.add_argument
    add("--sequence-length", type=int, metavar="N", help="tokens in a sequence")
    add("--batch-size", type=int, metavar="N", help="sequences in a step, over all processes")
    add("--learning-rate", type=float, metavar="X", help="peak learning rate")
    add("--warmup-steps", type=int, metavar="N", help="steps of linear warm-up")
    add("--final-lr-fraction", type=float, metavar="X", help="cosine's end / peak (default: 0.1)")
    add("--linear-decay", type=float, metavar="X", help="last part of the steps, down to rate 0")
    add("--weight-decay", type=float, metavar="X", help="of matrices (default: 0.1)")
    add("--z-loss", type=float, metavar="X", help="weight of the z-loss (default: 1e-5)")
    add("--init", choices=("normal", "fast"), help="initialisation of the weights")
    add("--init-seed", type=int, default=0, metavar="N", help="its seed (default: 0)")
    add("--data-seed", type=int, default=0, metavar="N", help="seed of the data order (default: 0)")
    add("--max-repetition", type=float, metavar="X", help="refuse more epochs (default: 4)")
    add("--vocab-size", type=int, metavar="N", help="rows of the embedding (tiny: the corpus's)")


def _add_evaluation_arguments(group: argparse._ArgumentGroup) -> None:
    add = group.add_argument
    add("--suite", metavar="DIR", help="task suite to score every finished run on (eval.json)")
    add("--tokenizer", metavar="FILE", help="the corpus's tokenizer, to read the suite with")
    add(
        "--evaluate-at",
        metavar="X,X",
        help="also score at these fractions of training, into run.json (default: none)",
    )
    add("--max-instances", type=int, metavar="N", help="instances of a task scored (default: all)")
    add(
        "--batch-tokens", type=int, default=4096, metavar="N", help="scored at once (default: 4096)"
    )


def _add_hardware_arguments(group: argparse._ArgumentGroup) -> None:
    add = group.add_argument
    add("--device", default="auto", help="cpu, cuda, ... (default: a GPU if there is one)")
    add(
        "--precision",
        choices=("auto", "float32", "bfloat16"),
        default="auto",
        help="arithmetic (default: bfloat16 on a GPU, else float32)",
    )
    add("--threads", type=int, metavar="N", help="CPU threads (default: 1 if all shapes are tiny)")
    add("--no-compile", action="store_true", help="do not compile the model on a GPU")
    add("--micro-batch", type=int, metavar="N", help="sequences at a time (default: all)")
    add(
        "--sharding",
        choices=tuple(SHARDINGS),
        default="none",
        help="; ".join(f"{name}: {what}" for name, what in SHARDINGS.items()) + " (default: none)",
    )
    add(
        "--state",
        metavar="DIR",
        help="where unfinished runs keep checkpoints (default: .state beside the run or list)",
    )
    add(
        "--checkpoint-seconds",
        type=float,
        default=600,
        metavar="X",
        help="time between checkpoints (default: 600)",
    )
    add("--checkpoint-steps", type=int, metavar="N", help="also every N steps (default: never)")
    add(
        "--pause-steps",
        type=int,
        metavar="N",
        help="steps between looks at losses, checkpoints and time (default: 20 on a GPU, else 1)",
    )
    add(
        "--time-limit",
        type=float,
        metavar="X",
        help="write a checkpoint and exit with status 75 before X seconds are over (default: none)",
    )


def _add_job_arguments(group: argparse._ArgumentGroup) -> None:
    add = group.add_argument
    add(
        "--processes",
        type=int,
        metavar="N",
        help="on each node, one per GPU, started by torchrun if many; 0: without any GPU",
    )
    add("--nodes", type=int, default=1, metavar="N", help="of a SLURM job, by srun (default: 1)")
    add("--cpus", type=int, default=1, metavar="N", help="on each node (default: 1)")
    add(
        "--slurm-minutes",
        type=float,
        metavar="X",
        help="asked of SLURM: sets --time-limit in time before; without SLURM there is no limit",
    )


def run(args: argparse.Namespace) -> int:
    """Train in this process or in those the job was given; see `train` for what is returned."""
    if args.processes is None or started():
        return train(args)
    if args.processes < 0 or args.nodes < 1 or args.cpus < 1:
        raise OlmixError(
            f"{args.processes} processes on {args.nodes} nodes with {args.cpus} CPUs; "
            "expected at least 0, 1 and 1"
        )
    # Of several nodes each has GPUs of its own, which SLURM has chosen.
    alone = args.nodes == 1
    gpus = own_gpus(args.processes) if alone else contextlib.nullcontext(args.processes)
    with gpus as processes:
        start = Start(args.nodes, processes, args.cpus)
        if (command := launch_command(start, sys.argv[1:])) is not None:
            os.execvp(command[0], command)
        return train(args)


def train(args: argparse.Namespace) -> int:
    """Train, and return 0, 75 if the time limit came first, or 1 if some of many runs failed."""
    if (args.runs is None) == (args.out is None):
        raise OlmixError("expected either --out for one run or --runs for a list of them")
    if args.out is not None and args.corpus is None:
        raise OlmixError("--out needs a --corpus to train on")
    if args.suite is not None and args.tokenizer is None:
        raise OlmixError("--suite needs the --tokenizer to read it with")
    if args.evaluate_at and args.suite is None:
        raise OlmixError("--evaluate-at needs a --suite to score on")
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s: %(message)s")

    # torch takes seconds to import: mistakes above are answered before.
    from olmix.training.deadline import RESUME_ME, Deadline, RunStopped
    from olmix.training.distributed import processes
    from olmix.training.swarm_runner import read_runs, run_all

    deadline = Deadline(args.time_limit or time_limit(args.slurm_minutes))
    runs = read_runs(args.runs) if args.runs else [_single_run(args)]
    _set_threads(args.threads, runs)
    state = args.state or Path(args.runs or args.out).parent / ".state"
    with _ending_on_sigterm(deadline), processes(args.device, deadline) as team:
        if args.processes and team.first and team.device.type == "cpu":
            sys.stderr.write("warning: torch sees no GPU here, training on the CPU\n")
        try:
            failed = run_all(
                runs, state, team, hardware=_hardware(args), scores=_scores(args, team)
            )
        except RunStopped as stopped:
            if team.first:
                sys.stderr.write(f"{stopped}\n")
            return RESUME_ME
        if failed and args.out is not None:
            raise failed[0][1]
        if team.first:
            _print_table(runs, failed)
    return EXIT_FAILED if failed else 0


def _set_threads(count: int | None, runs: "list[RunRequest]") -> None:
    """Tiny models have nothing to share out: threads would only wait for one another."""
    import torch

    from olmix.model.shapes import is_tiny

    if count is not None and count < 1:
        raise OlmixError(f"--threads is {count}; expected at least 1")
    if count is None and all(is_tiny(request.settings.model.name) for request in runs):
        count = 1
    if count is not None:
        torch.set_num_threads(count)


@contextlib.contextmanager
def _ending_on_sigterm(deadline: "Deadline") -> Iterator[None]:
    """Let the deadline expire on SIGTERM, with which SLURM announces the end of a job."""
    before = signal.signal(signal.SIGTERM, lambda *_: deadline.expire())
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _print_table(runs: "list[RunRequest]", failed: list[tuple[Any, OlmixError]]) -> None:
    from olmix.training.swarm_runner import summary

    lost = {request.folder: error for request, error in failed}
    for request in runs:
        if request.folder not in lost:
            record = read_json(request.folder / "run.json")
            sys.stdout.write(f"{request.folder}: {summary(record)}\n")
    for folder, error in lost.items():
        sys.stderr.write(f"error: {folder}: {error}\n")


def _hardware(args: argparse.Namespace) -> Any:
    from olmix.training.settings import Hardware

    return Hardware(
        device=args.device,
        precision=args.precision,
        compile=False if args.no_compile else None,
        micro_batch=args.micro_batch,
        sharding=args.sharding,
        checkpoint_seconds=args.checkpoint_seconds,
        checkpoint_steps=args.checkpoint_steps,
        pause_steps=args.pause_steps,
    )


def _single_run(args: argparse.Namespace) -> "RunRequest":
    """The run that the command line describes; what it leaves out comes from the shape's preset."""
    from olmix.corpus.store import Corpus
    from olmix.training.swarm_runner import RunRequest

    corpus = Corpus.open(args.corpus)
    reference = None if args.reference is None else Path(args.reference)
    return RunRequest(Path(args.out), Path(args.corpus), _settings(args, corpus), reference)


def _settings(args: argparse.Namespace, corpus: "Corpus") -> "RunSettings":
    from olmix.model.initialisation import Init
    from olmix.model.shapes import is_tiny, shape
    from olmix.training.presets import preset
    from olmix.training.settings import MixChange, RunSettings, data_fingerprint, whole_batches

    vocab_size = args.vocab_size
    if vocab_size is None and is_tiny(args.shape):
        vocab_size = corpus.tokenizer.vocab_size
    model, recipe = shape(args.shape, vocab_size), preset(args.shape)
    mix = _mix(args.mix, corpus)
    changes = [MixChange(at, _mix(text, corpus)) for at, text in map(_change, args.change)]
    length = recipe.sequence_length if args.sequence_length is None else args.sequence_length
    batch = recipe.batch_size if args.batch_size is None else args.batch_size
    tokens = recipe.tokens if args.tokens is None else args.tokens
    if length < 2 or batch < 1:
        raise OlmixError(f"sequences of {length} tokens, {batch} in a batch; expected more")
    tokens = whole_batches(tokens, length, batch)
    warmup = recipe.warmup_steps(tokens // (length * batch))
    decay = recipe.linear_decay if args.linear_decay is None else args.linear_decay
    kind = args.init or recipe.init.kind
    given = {
        name: getattr(args, name)
        for name in ("final_lr_fraction", "weight_decay", "z_loss", "max_repetition")
        if getattr(args, name) is not None
    }
    return RunSettings(
        model=model,
        mix=mix,
        tokens=tokens,
        sequence_length=length,
        batch_size=batch,
        learning_rate=args.learning_rate
        if args.learning_rate is not None
        else recipe.learning_rate,
        corpus=data_fingerprint(corpus, mix, *(change.mix for change in changes)),
        tokenizer=corpus.tokenizer.sha256,
        init=Init(kind, seed=args.init_seed),
        warmup_steps=warmup if args.warmup_steps is None else args.warmup_steps,
        data_seed=args.data_seed,
        linear_decay=decay,
        evaluate_at=_fractions(args.evaluate_at),
        schedule=tuple(changes),
        steering=_steering(args),
        **given,
    )


def _mix(text: str, corpus: "Corpus") -> dict[str, float]:
    """A mix from ``natural``, ``name=weight,...`` or a mix's JSON file."""
    if text == "natural":
        counts = corpus.token_counts
        total = sum(counts.values())
        return {domain: count / total for domain, count in counts.items()}
    if "=" in text and not Path(text).is_file():
        return dict(_weight(part) for part in text.split(","))
    return read_mix(text).to_dict()


def _steering(args: argparse.Namespace) -> "SteeringSettings | None":
    """The algorithm that moves the mix, if one is asked for."""
    from olmix.training.settings import SteeringSettings

    if args.steer is None:
        if args.steer_setting or args.reference:
            raise OlmixError("--steer-setting and --reference need --steer")
        return None
    settings = {}
    for text in args.steer_setting:
        key, _, value = text.partition("=")
        try:
            settings[key] = json.loads(value)
        except json.JSONDecodeError:
            raise OlmixError(f"--steer-setting {text!r}; expected KEY=VALUE, as JSON") from None
    reference = None
    if args.reference is not None:
        reference = read_json(Path(args.reference) / "run.json")["hash"]
    return SteeringSettings(args.steer, settings, reference)


def _change(text: str) -> tuple[float, str]:
    """The fraction of training and the mix that a ``--change`` names."""
    at, _, mix = text.partition("=")
    try:
        return float(at), mix
    except ValueError:
        raise OlmixError(f"--change {text!r}; expected a fraction and a mix, 0.8=MIX") from None


def _weight(part: str) -> tuple[str, float]:
    name, _, weight = part.rpartition("=")
    try:
        return name.strip(), float(weight)
    except ValueError:
        raise OlmixError(f"--mix: {part!r} is not name=weight") from None


def _fractions(text: str | None) -> tuple[float, ...]:
    try:
        return tuple(float(part) for part in text.split(",")) if text else ()
    except ValueError:
        raise OlmixError(f"--evaluate-at {text!r}; expected fractions such as 0.25,0.5") from None


def _scores(args: argparse.Namespace, team: "Processes") -> "Scores | None":
    """What scores models along training and finished runs; None if no suite is given."""
    if args.suite is None:
        return None
    from olmix.training.scores import Scores

    return Scores(
        args.suite,
        args.tokenizer,
        team,
        batch_tokens=args.batch_tokens,
        max_instances=args.max_instances,
        precision=args.precision,
    )
