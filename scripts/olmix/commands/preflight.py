"""`python -m olmix preflight`: how fast a model of a scale trains and is scored where it runs."""

import argparse
import contextlib
import os
import sys
from pathlib import Path

from olmix.commands.outputs import output_file
from olmix.errors import OlmixError
from olmix.files import read_json, write_json
from olmix.training.gpus import own_gpus
from olmix.training.launch import Start, launch_command, started

HELP = "measure how fast a model trains and is scored here (jobs of `snakemake preflight`)"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of `python -m olmix preflight`."""
    add = parser.add_argument
    add("--asked", required=True, metavar="JSON", help="the model and how it is to be measured")
    add("--data", metavar="DIR", help="prepared corpus and suite (default: stand-ins)")
    add("--work", required=True, metavar="DIR", help="folder for files on the way")
    add("--out", type=output_file, required=True, metavar="JSON", help="what was measured")
    add("--processes", type=int, default=0, metavar="N", help="on each node, one per GPU; 0: CPU")
    add("--nodes", type=int, default=1, metavar="N", help="of a SLURM job (default: 1)")
    add("--cpus", type=int, default=1, metavar="N", help="on each node (default: 1)")


def run(args: argparse.Namespace) -> int:
    """Measure in this process or in those the job was given, as `python -m olmix train` does."""
    if started():
        return measure(args)
    if args.processes < 0 or args.nodes < 1 or args.cpus < 1:
        raise OlmixError(
            f"{args.processes} processes on {args.nodes} nodes with {args.cpus} CPUs; "
            "expected at least 0, 1 and 1"
        )
    gpus = own_gpus(args.processes) if args.nodes == 1 else contextlib.nullcontext(args.processes)
    with gpus as processes:
        start = Start(args.nodes, processes, args.cpus)
        if (command := launch_command(start, sys.argv[1:])) is not None:
            os.execvp(command[0], command)
        return measure(args)


def measure(args: argparse.Namespace) -> int:
    """Measure, and let the first process write what was found."""
    from olmix.preflight.measure import Subject
    from olmix.preflight.measure import measure as measure_model
    from olmix.preflight.place import Place
    from olmix.training.distributed import processes

    asked = Subject(**read_json(args.asked))
    data = None if args.data is None else Path(args.data)
    with processes() as team:
        found = measure_model(asked, Place(Path(args.work), team, data))
        if team.first:
            write_json(args.out, found)
    return 0
