"""PostgreSQL 14 and newer, with asyncpg."""
