"""Names of files and folders at a destination."""

STAGING = ".crowdgate-staging"
SCRATCH = ".crowdgate-"
"""What names begin with of files that are being written; one that a killed run left is nobody's."""
SIGNED = "release.dsse.json"
"""The signature, which is made of the manifest, and so is not in it."""
