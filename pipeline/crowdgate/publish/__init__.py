"""Private staging of releases, and publication by renaming."""
