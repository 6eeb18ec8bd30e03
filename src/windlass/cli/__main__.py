"""`python -m windlass.cli`, for where the script is not on the path."""

from windlass.cli.main import main

main()
