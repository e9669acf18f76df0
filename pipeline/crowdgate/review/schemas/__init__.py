"""JSON Schemas of the files that people write, and of the manifest."""
