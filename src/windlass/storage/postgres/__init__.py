"""PostgreSQL 14 and newer, by asyncpg."""
