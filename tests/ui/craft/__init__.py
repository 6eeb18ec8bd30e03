"""Promises of every screen: accessible, narrow, small, steady."""
