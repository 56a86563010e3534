"""How every engine is started, without reading the rest of what is known about engines.

Recognising a deployment asks all engines and then needs one of them. Of built-in files, which the tests keep in shape,
only the lines of that section are read; where a user's layer has an engine, whole files are.
"""

from __future__ import annotations

import functools
import re
from pathlib import PurePosixPath

from specrules.catalog.catalogue import Catalog
from specrules.catalog.located import read_document
from specrules.model.launching import Launching

SECTION = "launch"
_LINES = re.compile(rf"^{SECTION}:.*\n(?:(?:[ \t].*)?\n)*", re.MULTILINE)


@functools.lru_cache(maxsize=1)
def launch_sections(catalog: Catalog) -> dict[str, Launching]:
    """Return the section of every engine that has one, by id, kept for the next file.

    UserError for a user's engine that does not load.
    """
    files = catalog.engine_documents.files
    if not all(file.layer.is_builtin for file in files):
        sections = {name: catalog.engine(name).model.launch for name in catalog.engine_ids}
        return {name: section for name, section in sections.items() if section is not None}
    found: dict[str, Launching] = {}
    for file in files:
        lines = _LINES.search(file.read().decode("utf-8").replace("\r\n", "\n"))
        if lines is not None:
            data = read_document(lines.group() + "\n", file.path).data[SECTION]
            found[PurePosixPath(file.name).stem] = Launching.model_validate(data)
    return found
