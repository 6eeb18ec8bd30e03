"""Background refresh of the completion cache, started by `completion_cache`."""

import json
import sys

from windlass.cli.completion.completion_cache import CompletionCache, delete_old_caches
from windlass.cli.completion.live_values import asked
from windlass.cli.framework.flags import Flags


def main() -> None:
    source, values = json.load(sys.stdin)
    flags = Flags(**{**values, "_typed": set()})
    cache = CompletionCache.of(source, flags)
    if (known := asked(source, flags)) is not None:
        cache.write(known)
    delete_old_caches()


if __name__ == "__main__":
    main()
