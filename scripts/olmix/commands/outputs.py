"""The values of `--out` and its like: refused at the border if nothing can be written there."""

import tempfile
from pathlib import Path

from olmix.errors import OlmixError

__all__ = ["output_file", "output_folder"]


def output_folder(text: str) -> Path:
    """A folder to write into, which may not be there yet."""
    path = Path(text)
    if path.exists() and not path.is_dir():
        raise OlmixError(f"{path}: is a file, expected a folder or a new name")
    _try_to_write(path, path)
    return path


def output_file(text: str) -> Path:
    """A file to write, in a folder that may not be there yet."""
    path = Path(text)
    if path.is_dir():
        raise OlmixError(f"{path}: is a folder, expected a file or a new name")
    _try_to_write(path.absolute().parent, path)
    return path


def _try_to_write(folder: Path, asked: Path) -> None:
    """Write a file that leaves no trace into ``folder``, or into the first above it that is there.

    Only an attempt tells: permissions say nothing of file systems that are read-only or full.
    """
    folder = folder.absolute()
    while not folder.exists() and folder.parent != folder:
        folder = folder.parent
    try:
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(b"x")
    except OSError as error:
        raise OlmixError(
            f"{asked}: cannot be written ({error.strerror} at {folder}), expected another place"
        ) from None
