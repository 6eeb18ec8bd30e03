"""The verbs of the product; the layers above call only these."""
