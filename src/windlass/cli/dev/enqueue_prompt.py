"""Prompts for a job at the terminal of `windlass dev`, and enqueues it."""

import shlex
import sys

import click

from windlass.cli.main import run
from windlass.cli.text.printing import prompt, write_line


def main(example: str) -> int:
    """Prompt once for the arguments of `windlass enqueue`, and return that command's exit code."""
    try:
        line = prompt("Enqueue", default=example or None)
        words = shlex.split(line)
    except (click.Abort, EOFError):
        write_line("Nothing is enqueued.", sys.stderr)
        return 0
    except ValueError as error:
        write_line(f"Nothing is enqueued: {error}.", sys.stderr)
        return 2
    return run(["enqueue", *words])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
