"""Compare the data folders of the checkout with what the wheel and the sdist hold."""

from __future__ import annotations

import sys
import tarfile
import zipfile
from pathlib import Path, PurePosixPath

FOLDERS = ("engines", "benches", "rules", "templates", "schemas", "prompts")
PACKAGED = "specrules/_data/"


def of_checkout() -> set[str]:
    """Return every file of the data folders."""
    return {path.as_posix() for folder in FOLDERS for path in Path(folder).rglob("*") if path.is_file()}


def of_archive(path: Path) -> set[str]:
    """Return every file of the data folders in an archive, named as in the checkout."""
    if path.suffix == ".whl":
        with zipfile.ZipFile(path) as wheel:
            return {name.removeprefix(PACKAGED) for name in wheel.namelist() if name.startswith(PACKAGED)}
    with tarfile.open(path) as sdist:
        names = (PurePosixPath(item.name) for item in sdist.getmembers() if item.isfile())
        inside = (PurePosixPath(*name.parts[1:]) for name in names)
        return {name.as_posix() for name in inside if name.parts and name.parts[0] in FOLDERS}


def main(archives: list[str]) -> int:
    """Print every difference; return 1 where there is one."""
    wanted, failed = of_checkout(), False
    for archive in archives:
        found = of_archive(Path(archive))
        for name in sorted(wanted - found):
            print(f"{archive}: lacks {name}")
        for name in sorted(found - wanted):
            print(f"{archive}: holds {name}, which the checkout does not")
        failed |= found != wanted
        print(f"{Path(archive).name}: {len(found)} data files")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
