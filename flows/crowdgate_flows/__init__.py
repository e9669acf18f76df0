"""Crowdgate's Prefect flows and the command line's entry point."""

import os

# Prefect reads these variables at its import. Crowdgate's processes never send statistics, whatever the environment
# states, and a flow without a server waits long enough for a temporary one.
os.environ |= {"PREFECT_SERVER_ANALYTICS_ENABLED": "false", "DO_NOT_TRACK": "1"}
os.environ.setdefault("PREFECT_SERVER_EPHEMERAL_STARTUP_TIMEOUT_SECONDS", "120")
