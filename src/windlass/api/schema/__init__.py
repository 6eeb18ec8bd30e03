"""Requests and responses: their models, paging, and the API reference."""
