"""Asks anew for names that were offered to a shell. Started by `known_values`, seen by nobody."""

import json
import sys

from windlass.cli.completion.completion_cache import Kept, forget_old
from windlass.cli.completion.live_values import asked
from windlass.cli.framework.flags import Flags


def main() -> None:
    source, given = json.load(sys.stdin)
    flags = Flags(**{**given, "_typed": set()})
    kept = Kept.of(source, flags)
    if (known := asked(source, flags)) is not None:
        kept.write(known)
    forget_old()


if __name__ == "__main__":
    main()
