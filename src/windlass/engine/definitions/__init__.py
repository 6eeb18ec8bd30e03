"""Definitions: declare, edit, enable, disable."""
