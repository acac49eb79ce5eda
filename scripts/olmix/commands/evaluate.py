"""`python -m olmix evaluate`: bits per byte of finished runs on every task of a suite."""

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path

from olmix.commands.outputs import output_file
from olmix.errors import OlmixError
from olmix.files import write_json

HELP = "score finished runs on every task of a suite, in bits per byte"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of `python -m olmix evaluate`."""
    parser.add_argument(
        "--run",
        action="append",
        required=True,
        metavar="DIR",
        help="folder of a finished run; repeat it for several runs in one process",
    )
    parser.add_argument("--suite", required=True, metavar="DIR", help="folder of the task suite")
    parser.add_argument(
        "--tokenizer",
        required=True,
        metavar="FILE",
        help="the tokenizer the runs were trained with",
    )
    parser.add_argument(
        "--out",
        type=output_file,
        action="append",
        metavar="FILE",
        help="result, one for each --run in their order (default: eval.json in the run's folder)",
    )
    parser.add_argument(
        "--max-instances",
        type=int,
        metavar="N",
        help="score at most N evenly spaced instances of each task (default: all)",
    )
    parser.add_argument(
        "--batch-tokens",
        type=int,
        default=4096,
        metavar="N",
        help="tokens in a batch with padding; more on a GPU, same results (default: 4096)",
    )
    parser.add_argument("--device", default="cpu", help="cpu, cuda, cuda:1, ... (default: cpu)")
    parser.add_argument(
        "--precision",
        choices=("auto", "float32", "bfloat16"),
        default="auto",
        help="arithmetic inside the network (default: bfloat16 on a GPU, else float32)",
    )


def run(args: argparse.Namespace) -> None:
    """Check every run, then score them one after another."""
    outputs = args.out or [Path(folder) / "eval.json" for folder in args.run]
    if len(outputs) != len(args.run):
        raise OlmixError(f"{len(args.run)} --run but {len(outputs)} --out; expected as many")
    for name, value in (("batch-tokens", args.batch_tokens), ("max-instances", args.max_instances)):
        if value is not None and value < 1:
            raise OlmixError(f"--{name} is {value}; expected at least 1")

    # torch takes seconds to import: mistakes on the command line are answered before.
    import torch

    from olmix.evaluation.runs import check_run, evaluate_run
    from olmix.evaluation.suite import Suite
    from olmix.evaluation.tokens import TokenisedSuite

    try:
        torch.empty(0, device=args.device)
    except (RuntimeError, AssertionError) as error:
        first_line = str(error).splitlines()[0]
        raise OlmixError(f"--device {args.device!r} cannot be used ({first_line})") from error
    suite = TokenisedSuite(Suite.open(args.suite), args.tokenizer)
    for folder in args.run:
        check_run(folder, suite)
    for number, (folder, output) in enumerate(zip(args.run, outputs, strict=True), start=1):
        started = time.perf_counter()
        result = evaluate_run(
            folder,
            suite,
            device=args.device,
            batch_tokens=args.batch_tokens,
            max_instances=args.max_instances,
            precision=args.precision,
            on_progress=_progress(f"[{number}/{len(args.run)}] {folder}"),
        )
        write_json(output, result)
        families = "  ".join(f"{name} {bpb:.4f}" for name, bpb in result["families"].items())
        sampled = f"  (at most {args.max_instances} instances a task)" if args.max_instances else ""
        seconds = time.perf_counter() - started
        print(f"{output}: average {result['average']:.4f}  {families}  {seconds:.1f} s{sampled}")


def _progress(label: str) -> Callable[[int, int], None]:
    """A line on stderr every ten seconds of scoring."""
    last = time.monotonic()

    def show(done: int, total: int) -> None:
        nonlocal last
        if time.monotonic() - last >= 10:
            last = time.monotonic()
            print(f"{label}: {done} of {total} batches", file=sys.stderr)

    return show
