"""A seeded simulation of the engine's loops: virtual time, and a crash between any two commits."""
