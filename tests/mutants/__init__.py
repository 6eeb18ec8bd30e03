"""Planted bugs that the tests must notice: `make mutants` plants each one and runs its tests."""
