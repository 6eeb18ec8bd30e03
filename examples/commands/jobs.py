"""Four commands of a photo service as jobs. `zoltag`, beside this file, replaces the real tool."""

from functools import partial
from pathlib import Path

from windlass import Windlass

wl = Windlass()

ZOLTAG = str(Path(__file__).with_name("zoltag"))

# What the four have in common. 66 is `zoltag`'s word for "there is no such thing".
command = partial(
    wl.command,
    max_attempts=3,
    timeout="1h",
    exit_codes={66: "permanent"},
    env=["PATH", "HOME"],
    result="json",
    tags=["zoltag"],
)

sync_dropbox = command(
    "sync-dropbox",
    [ZOLTAG, "sync-dropbox", "--provider-id={provider_id}"],
    payload_schema={
        "properties": {
            "provider_id": {"type": "string", "format": "uuid"},
            "path_prefix": {"type": "string", "maxLength": 1000},
        },
        "required": ["provider_id"],
    },
    options={"path_prefix": "--path-prefix"},
    max_concurrency=2,
)

recompute_trained_tags = command(
    "recompute-trained-tags",
    [ZOLTAG, "recompute-trained-tags"],
    payload_schema={"properties": {"model": {"type": "string", "examples": ["siglip"]}}},
    options={"model": "--model"},
)

recompute_zeroshot_tags = command("recompute-zeroshot-tags", [ZOLTAG, "recompute-zeroshot-tags"])

train_keyword_models = command(
    "train-keyword-models",
    [ZOLTAG, "train-keyword-models"],
    payload_schema={"properties": {"keywords": {"type": "array", "items": {"type": "string"}}}},
    options={"keywords": "--keyword"},
    memory_limit_mb=4096,
)
