"""Entry point: commands by name, errors to messages, outcomes to exit codes."""

from __future__ import annotations

import importlib
import io
import os
import sys
from collections.abc import Mapping, Sequence

import click

from specrules.cli.options import Group
from specrules.errors import SpecrulesError, UserError
from specrules.version import __version__

EXIT_OK = 0
EXIT_GATE_FAILED = 1
EXIT_COULD_NOT_JUDGE = 2
EXIT_INTERRUPTED = 130

COMMANDS: Mapping[str, tuple[str, str]] = {
    "triage": ("specrules.cli.triage", "The five-part report on a case: is it worth deploying?"),
    "gate": ("specrules.cli.gate", "Cases and deployments against a policy, for CI."),
    "waivers": ("specrules.cli.waivers", "Who answers for which finding, and until when."),
    "read": ("specrules.cli.read", "The facts in logs, metrics and bench outputs, or on Prometheus."),
    "tokenizer": ("specrules.cli.tokenizer", "Whether two tokenizers mean the same, and what engines do."),
    "fit": ("specrules.cli.fit", "Whether target and drafter fit on named devices."),
    "init": ("specrules.cli.init", "A case to start from, asked of a running server."),
    "measure": ("specrules.cli.measure", "Running servers, measured as their clients see them."),
    "agree": ("specrules.cli.agree", "About how often a drafter guesses the target's tokens."),
    "plan": ("specrules.cli.plan", "The script of the measurement that would settle a case."),
    "export": ("specrules.cli.export", "A verdict for other programs: rules for Prometheus."),
    "engines": ("specrules.cli.engines", "List, show and check engine files."),
    "rules": ("specrules.cli.rules", "List, show, check and test rules."),
    "schema": ("specrules.cli.schema", "The JSON Schema of a kind of document."),
    "completion": ("specrules.cli.completion", "The script that completes commands in your shell."),
}
"""Every command: its module, which holds it as `command`, and its line in the overview. Modules load when they run."""


class _Lazy(Group):
    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = importlib.import_module(COMMANDS[cmd_name][0]).command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        with formatter.section("Commands"):
            formatter.write_dl([(name, summary) for name, (_, summary) in COMMANDS.items()])


@click.group(cls=_Lazy, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="specrules", message="%(prog)s %(version)s")
def cli() -> None:
    """Is speculative decoding worth deploying for this target, this drafter and this engine, against what runs today?

    \b
    Example:
      specrules triage examples/frank-large-27b.yaml
    """


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line and leave with its exit code. The only place where errors become exit codes."""
    # Files and pipes get UTF-8. A terminal keeps its encoding and shows what it lacks by its code, rather than losing
    # the whole report.
    if isinstance(sys.stdout, io.TextIOWrapper):
        encoding = sys.stdout.encoding if sys.stdout.isatty() else "utf-8"
        sys.stdout.reconfigure(encoding=encoding, errors="backslashreplace")
    sys.exit(run(arguments))


def run(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code."""
    try:
        result = cli.main(args=arguments, prog_name="specrules", standalone_mode=False)
    except UserError as error:
        for problem in error.problems:
            _say(problem.render())
        return EXIT_COULD_NOT_JUDGE
    except SpecrulesError as error:
        _say(str(error))
        return EXIT_COULD_NOT_JUDGE
    except click.ClickException as error:
        error.show(sys.stderr)
        return EXIT_COULD_NOT_JUDGE
    except (click.Abort, KeyboardInterrupt):
        _say("interrupted")
        return EXIT_INTERRUPTED
    except SystemExit:
        # This is how click leaves where the reader of a pipe has gone while it printed help; its code would be 1.
        return EXIT_OK
    except Exception as error:
        if os.environ.get("SPECRULES_DEBUG"):
            raise
        _say(f"internal error: {type(error).__name__}: {error}")
        _say("This is a bug in specrules. Run again with SPECRULES_DEBUG=1 for a traceback to report.")
        return EXIT_COULD_NOT_JUDGE
    return result if isinstance(result, int) else EXIT_OK


def _say(text: str) -> None:
    click.echo(text, err=True)
