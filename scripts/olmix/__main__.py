"""``python -m olmix COMMAND``: one file in `olmix.commands` per command."""

import argparse
import sys
from importlib import import_module
from pathlib import Path

from olmix import __version__, commands
from olmix.errors import OlmixError

DESCRIPTION = """\
Choose a language model's data mix, and update it when its domains change.

commands:
{commands}

`python -m olmix COMMAND --help` tells a command's options."""

# Modules of `olmix.commands` that commands share.
_NOT_COMMANDS = ("__init__", "options", "outputs")


def _command_names() -> list[str]:
    folder = Path(commands.__file__).parent
    return sorted(path.stem for path in folder.glob("*.py") if path.stem not in _NOT_COMMANDS)


def _overview() -> str:
    """Every command with its line of help; imports them all, so only for --help."""
    lines = [
        f"  {name:<10} {import_module(f'olmix.commands.{name}').HELP}" for name in _command_names()
    ]
    return DESCRIPTION.format(commands="\n".join(lines))


def main(arguments: list[str] | None = None) -> int:
    """Run one command; what it refuses, or the system does, is one line on stderr and status 2."""
    arguments = sys.argv[1:] if arguments is None else arguments
    if not arguments or arguments[0] in ("-h", "--help"):
        sys.stdout.write(_overview() + "\n")
        return 0
    if arguments[0] == "--version":
        sys.stdout.write(f"olmix {__version__}\n")
        return 0
    name, rest = arguments[0], arguments[1:]
    if name not in _command_names():
        sys.stderr.write(f"error: no command '{name}': expected {', '.join(_command_names())}\n")
        return 2
    command = import_module(f"olmix.commands.{name}")
    parser = argparse.ArgumentParser(
        prog=f"python -m olmix {name}", description=command.HELP, allow_abbrev=False
    )
    command.add_arguments(parser)
    try:
        return command.run(parser.parse_args(rest)) or 0
    except OlmixError as error:
        sys.stderr.write(f"error: {error}\n")
        return 2
    except BrokenPipeError:  # the reader of a table, such as `head`, went away
        return 0
    except OSError as error:  # a full disk, a file that went away
        if error.strerror is None:  # not the system's own word
            raise
        place = f"{error.filename}: " if error.filename else ""
        sys.stderr.write(f"error: {place}{error.strerror}\n")
        return 2


if __name__ == "__main__":
    sys.exit(main())
