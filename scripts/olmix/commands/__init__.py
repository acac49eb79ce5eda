"""The commands of `python -m olmix`, one module each: HELP, add_arguments, run."""
