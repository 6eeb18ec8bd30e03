"""The questions, in the order they are asked. Each module has a QUESTION and an `ask`."""

NAMES = (
    "drain",
    "processes",
    "enqueue",
    "transaction",
    "producers",
    "pickup",
    "idle",
    "wal",
    "growth",
    "retention",
    "lists",
    "soak",
    "shell",
    "backlog",
    "tenants",
    "unclaimable",
    "pinned",
    "sqlite",
    "mariadb",
    "databases",
)
