"""Options, and what else several commands share."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

import click

from specrules.errors import did_you_mean

F = TypeVar("F", bound=Callable[..., Any])


class Group(click.Group):
    """A group that says what was probably meant by a command that it does not have."""

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        """Find the command that the first word names. Fails where there is none."""
        known = self.list_commands(ctx)
        if args and args[0] not in known and not args[0].startswith("-"):
            hint = did_you_mean(args[0], known)
            ctx.fail(f"no command {args[0]!r}" + (f" ({hint})" if hint else ""))
        return super().resolve_command(ctx, args)


class Moment(click.ParamType[datetime]):
    """A day or a time of day; without a zone it is UTC."""

    name = "time"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> datetime:
        """Return the moment. Fails for text that is none."""
        if isinstance(value, datetime):
            return value
        try:
            moment = datetime.fromisoformat(value)
            return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment.astimezone(UTC)
        except (ValueError, OverflowError):
            self.fail(f"{value!r} is no time such as 2026-11-29 or 2026-11-29T12:00:00Z", param, ctx)


def layers(function: F) -> F:
    """Add --engines, --rules and --templates."""
    for kind, what in (("templates", "templates"), ("rules", "rules"), ("engines", "engine files")):
        function = click.option(
            f"--{kind}",
            multiple=True,
            type=click.Path(path_type=Path),
            metavar="DIR",
            help=f"A folder of {what} that counts more than the built-in ones. Repeatable.",
        )(function)
    return function


def access(function: F) -> F:
    """Add --token-env, --allow-private-redirects and --timeout, for commands that ask servers."""
    for option in (
        click.option(
            "--timeout",
            type=click.FloatRange(min=0, min_open=True),
            default=60.0,
            show_default=True,
            metavar="SECONDS",
            help="Give a server up that sends nothing for so long.",
        ),
        click.option(
            "--allow-private-redirects",
            is_flag=True,
            help="Follow redirects from a public address to one of a private network.",
        ),
        click.option(
            "--token-env",
            default="SPECRULES_TOKEN",
            show_default=True,
            metavar="NAME",
            help="The environment variable with the servers' token; without one, ~/.netrc counts.",
        ),
    ):
        function = option(function)
    return function


def policy(function: F) -> F:
    """Add --policy."""
    return click.option(
        "--policy",
        metavar="ID|FILE",
        help="The policy that counts: default, strict, advisory, one of your own, or a file.  [default: default]",
    )(function)


def waivers(function: F) -> F:
    """Add --waivers."""
    return click.option(
        "--waivers",
        type=click.Path(path_type=Path),
        metavar="FILE",
        help="Waivers; without it .specrules/waivers.yaml of the repository.",
    )(function)


def prompts(function: F) -> F:
    """Add --tasks and --prompts."""
    files = click.option(
        "--prompts",
        "files",
        multiple=True,
        type=click.Path(dir_okay=False, path_type=Path),
        metavar="FILE",
        help="Prompts of your own, as YAML or JSONL. Repeatable.",
    )
    tasks = click.option("--tasks", metavar="TASK,..", help="Prompts of these tasks only; by default of all that ship.")
    return tasks(files(function))


def output(function: F) -> F:
    """Add -o FILE."""
    return click.option(
        "-o",
        "--output",
        type=click.Path(dir_okay=False, path_type=Path),
        metavar="FILE",
        help="Write to a file, whole or not at all.",
    )(function)


def now(function: F) -> F:
    """Add --now."""
    return click.option(
        "--now", type=Moment(), metavar="TIME", help="What ages are counted to; makes the output reproducible."
    )(function)
