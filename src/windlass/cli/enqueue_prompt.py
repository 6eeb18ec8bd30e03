"""Asks for a job at the terminal of `windlass dev`, and enqueues it."""

import shlex
import sys

import click

from windlass.cli.main import run


def main(example: str) -> int:
    """Ask once; the exit code is that of `windlass enqueue`, whose words are asked for."""
    try:
        line = click.prompt("Enqueue", default=example or None, err=True)
        words = shlex.split(line)
    except (click.Abort, EOFError):
        click.echo("Nothing is enqueued.", err=True)
        return 0
    except ValueError as error:
        click.echo(f"Nothing is enqueued: {error}.", err=True)
        return 2
    return run(["enqueue", *words])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
