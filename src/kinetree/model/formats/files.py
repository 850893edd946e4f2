"""Reading a regular file of bounded size: no directory, device or pipe."""

from __future__ import annotations

import stat
from pathlib import Path

from kinetree.errors import MissingFileError
from kinetree.model.formats.xml import brief

LONGEST_PATH = 400


def read_file(path: Path, largest: int) -> bytes:
    """The content of a robot file.

    Arguments:
        largest: the limit of its size, bytes. One more byte is read, so that the parser can report
            that there are too many.
    """
    name = brief(str(path), LONGEST_PATH)
    try:
        status = path.stat()
        if stat.S_ISREG(status.st_mode):
            with path.open("rb") as file:
                return file.read(min(status.st_size, largest) + 1)
    except FileNotFoundError:
        folder = "exists" if path.parent.is_dir() else "does not exist either"
        raise MissingFileError(
            f"{name} cannot be read: there is no such file; its folder "
            f"{brief(str(path.parent), LONGEST_PATH)} {folder}"
        ) from None
    except OSError as e:
        raise MissingFileError(f"{name} cannot be read: {e.strerror}") from None
    except ValueError as e:
        raise MissingFileError(f"{name} cannot be read: {e}") from None
    kind = "a directory" if stat.S_ISDIR(status.st_mode) else "a device or a pipe"
    raise MissingFileError(f"{name} is {kind}: a robot file is expected")
