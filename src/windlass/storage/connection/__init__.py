"""Parts that all database connections share: address, deadlines, retries, tenant binding."""
