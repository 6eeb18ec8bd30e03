"""The application's data, as library jobs meet it: its database, tables and files."""
