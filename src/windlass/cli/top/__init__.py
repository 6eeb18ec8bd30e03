"""`windlass top`: a live, full-screen view."""
