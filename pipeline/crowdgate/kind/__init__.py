"""Interface of a kind of release, and the typed records that pass between the steps of a release."""
