"""What a kind of release is, and the typed records that a release passes from step to step."""
