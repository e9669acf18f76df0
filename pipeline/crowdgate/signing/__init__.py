"""Who made a release: keys, envelopes, and the statements that are signed."""
