"""Crowdgate's Prefect flows and the command line's entry point."""

import os

# Prefect reads this when it is imported. What Crowdgate starts reports to nobody, whatever the environment says, and a
# flow without a server waits long enough for its own.
os.environ |= {"PREFECT_SERVER_ANALYTICS_ENABLED": "false", "DO_NOT_TRACK": "1"}
os.environ.setdefault("PREFECT_SERVER_EPHEMERAL_STARTUP_TIMEOUT_SECONDS", "120")
