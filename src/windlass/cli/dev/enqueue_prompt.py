"""Asks for a job at the terminal of `windlass dev`, and enqueues it."""

import shlex
import sys

import click

from windlass.cli.main import run
from windlass.cli.text.printing import prompt, write_line


def main(example: str) -> int:
    """Ask once; the exit code is that of `windlass enqueue`, whose words are asked for."""
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
