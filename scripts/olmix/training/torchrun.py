"""`torchrun`, ending with the status of its processes: 75 has to reach whoever resumes them."""

import sys

from torch.distributed import run
from torch.distributed.elastic.multiprocessing.errors import ChildFailedError

from olmix.training.deadline import RESUME_ME


def main(arguments: list[str]) -> int:
    """Run `torchrun ARGUMENTS`; 0, or 75 if a process asked to be resumed, or 1."""
    try:
        run.main(arguments)
    except ChildFailedError as error:
        statuses = {failure.exitcode for failure in error.failures.values()}
        return RESUME_ME if RESUME_ME in statuses else 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
