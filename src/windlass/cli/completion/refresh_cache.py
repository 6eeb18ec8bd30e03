"""Background refresh of the completion cache, started by `completion_cache`."""

import json
import sys

from windlass.cli.completion.completion_cache import CompletionCache, delete_old_caches
from windlass.cli.completion.live_values import asked
from windlass.cli.framework.flags import Flags


def main() -> None:
    source, given = json.load(sys.stdin)
    flags = Flags(**{**given, "_typed": set()})
    kept = CompletionCache.of(source, flags)
    if (known := asked(source, flags)) is not None:
        kept.write(known)
    delete_old_caches()


if __name__ == "__main__":
    main()
