"""Text in and out: tables, styles, progress bars, parsing of typed values."""
