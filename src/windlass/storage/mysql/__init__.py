"""MariaDB 10.6 and newer, MySQL 8.0.17 and newer, with PyMySQL in threads."""
