"""Loops any process may run; guarded statements, not a leader, make them safe."""
