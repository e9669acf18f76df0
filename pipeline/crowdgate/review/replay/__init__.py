"""The gates of a policy judged again on what its past releases recorded."""
