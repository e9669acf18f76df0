"""Delivery of JSON to a URL of the settings: one attempt, no redirects, no URL in any message."""

import json
import socket
from http.client import HTTPException
from typing import Any
from urllib import request
from urllib.error import HTTPError, URLError

PATIENCE = 5.0
"""Seconds until a server that does not answer counts as out of reach."""


class _WithoutRedirects(request.HTTPRedirectHandler):
    """A redirect would send the event to an address that no setting names."""

    def redirect_request(self, *_: Any, **__: Any) -> None:
        """Follow no redirect."""


def post_json(url: str, content: Any) -> str | None:
    """Send an object of JSON to an HTTP or HTTPS URL. Return None if it was accepted, otherwise the reason in a few
    words, which never quote the URL.
    """
    headers = {"Content-Type": "application/json", "User-Agent": "crowdgate"}
    try:
        asked = request.Request(url, json.dumps(content).encode(), headers, method="POST")
        with request.build_opener(_WithoutRedirects).open(asked, timeout=PATIENCE):
            return None
    except HTTPError as error:
        error.close()
        return f"the server answered {error.code}"
    except (TimeoutError, URLError) as error:
        late = isinstance(error, TimeoutError) or isinstance(error.reason, socket.timeout)
        return f"no answer within {PATIENCE:g} seconds" if late else "the server is out of reach"
    except (OSError, ValueError, HTTPException) as error:
        return f"the request failed ({type(error).__name__})"
