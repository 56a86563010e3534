"""Templates from layered folders, rendered to Markdown."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Mapping, Sequence
from importlib.resources.abc import Traversable
from typing import TYPE_CHECKING, Any

from specrules.errors import CatalogError, Location, Problem
from specrules.report.filters import FILTERS
from specrules.report.layout import tidy
from specrules.report.markdown import finalize
from specrules.templating import environment

if TYPE_CHECKING:
    from jinja2.sandbox import SandboxedEnvironment


def find(layers: Sequence[Traversable], name: str) -> Traversable | None:
    """Return the file of that name from the first layer that has it. Names cannot leave their layer."""
    parts = name.split("/")
    if any(part in {"", ".", ".."} or "\\" in part or ":" in part for part in parts):
        return None
    for layer in layers:
        file = layer.joinpath(*parts)
        if file.is_file():
            return file
    return None


def markdown_environment(layers: Sequence[Traversable]) -> SandboxedEnvironment:
    """Return the environment of the Markdown templates: every value that is printed is escaped.

    `layers` are folders, the one that wins first; any file in a later one can be replaced by one of the same name.
    """
    made = template_environment(layers, finalize)
    made.filters.update(FILTERS)
    return made


def template_environment(layers: Sequence[Traversable], escape: Callable[[Any], Any]) -> SandboxedEnvironment:
    """Return an environment whose templates come from layers. `escape` gets every value that is printed."""
    from jinja2 import FunctionLoader

    def load(name: str) -> tuple[str, str, None] | None:
        file = find(layers, name)
        if file is None:
            return None
        try:
            return file.read_text(encoding="utf-8"), str(file), None
        except (OSError, UnicodeDecodeError) as error:
            raise CatalogError(Problem(f"cannot be read as a template: {error}", Location(str(file)))) from error

    return environment(loader=FunctionLoader(load), finalize=escape)


def render_markdown(made: SandboxedEnvironment, name: str, values: Mapping[str, Any]) -> str:
    """Render one template to tidy Markdown. Raises what `render` raises."""
    return tidy(render(made, name, values))


def render(made: SandboxedEnvironment, name: str, values: Mapping[str, Any]) -> str:
    """Render one template.

    Raises CatalogError where the template is missing, does not parse, or fails while it renders: a user's layer may
    hold anything.
    """
    from jinja2 import TemplateError

    try:
        return made.get_template(name).render(values)
    except (
        TemplateError,
        ArithmeticError,
        LookupError,
        TypeError,
        ValueError,
        AttributeError,
        RecursionError,
    ) as error:
        raise CatalogError(_problem(made, name, error)) from error


def _problem(made: SandboxedEnvironment, name: str, error: Exception) -> Problem:
    from jinja2 import TemplateNotFound, TemplateSyntaxError

    if isinstance(error, TemplateNotFound):
        return Problem(f"there is no template {error.name or name!r} in any template folder")
    if isinstance(error, TemplateSyntaxError):
        return Problem(error.message or "does not parse", Location(error.filename or name, error.lineno))
    return Problem(f"the template fails: {error or type(error).__name__}", _place(made, error) or Location(name))


def _place(made: SandboxedEnvironment, error: Exception) -> Location | None:
    """The innermost template line on the way to the error: Jinja puts template files into tracebacks."""
    files = {template.filename for template in made.cache.values()} if made.cache else set()
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename in files]
    return Location(frames[-1].filename, frames[-1].lineno or 0) if frames else None
