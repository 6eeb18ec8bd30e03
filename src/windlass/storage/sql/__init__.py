"""SQL statements: the files, how they are read and fed, and how rows become models."""
