"""Names of files and folders at a destination."""

STAGING = ".crowdgate-staging"
SCRATCH = ".crowdgate-"
"""The prefix of files that are being written; a file that a killed run left belongs to no run."""
SIGNED = "release.dsse.json"
"""The name of the signature, which is made from the manifest, and so is not listed in it."""
