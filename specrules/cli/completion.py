"""`specrules completion`: the script that completes commands and options in a shell."""

from __future__ import annotations

import click


@click.command(name="completion")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def command(shell: str) -> None:
    """Print the completion script of a shell.

    \b
    Example:
      eval "$(specrules completion bash)"
    """
    from click.shell_completion import get_completion_class

    from specrules.cli.main import cli
    from specrules.cli.writing import write

    made = get_completion_class(shell)
    if made is not None:
        write(made(cli, {}, "specrules", "_SPECRULES_COMPLETE").source())
