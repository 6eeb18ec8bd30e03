"""The verbs of the product; everything above speaks only to these."""
