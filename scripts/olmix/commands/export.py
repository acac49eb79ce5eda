"""`python -m olmix export`: write a trained model in the format that `transformers` loads."""

import argparse
import sys

from olmix.commands.outputs import output_folder

HELP = "write trained weights as a folder that transformers loads as Olmo2ForCausalLM"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the options of `python -m olmix export`."""
    parser.add_argument(
        "--weights", required=True, metavar="FILE", help="weights.safetensors of a finished run"
    )
    parser.add_argument(
        "--out",
        type=output_folder,
        required=True,
        metavar="DIR",
        help="folder for config.json and model.safetensors",
    )
    parser.add_argument(
        "--end-of-text",
        type=int,
        metavar="ID",
        help="the tokenizer's end-of-text id (default: none)",
    )


def run(args: argparse.Namespace) -> None:
    """Load the weights, split shared matrices, and write what `transformers` loads."""
    from olmix.model.export import export_model
    from olmix.model.weights import load_model

    model = load_model(args.weights)
    export_model(model, args.out, args.end_of_text)
    sys.stdout.write(f"{args.out}: {model.shape.name}, {model.shape.parameters:,} parameters\n")
