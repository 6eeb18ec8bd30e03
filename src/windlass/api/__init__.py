"""HTTP: thin routes over the engine, under `/api/v1`."""
