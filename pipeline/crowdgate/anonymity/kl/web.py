"""Files of a repository behind a URL: read-only, bounded in size and time, and only by the given scheme."""

import errno
import http.client
import re
import time
import urllib.error
import urllib.request
from collections.abc import Callable
from concurrent.futures import Future
from threading import Thread
from typing import Any
from urllib.parse import urlsplit

from crowdgate.errors import ConfigurationError, Problem

SECONDS = 20
"""Greatest number of seconds without an answer, and for one file in all."""
MOST_SECONDS = 600
"""Greatest number of seconds for a repository."""
MOST_BYTES = 256 << 20
"""Greatest number of bytes of a repository."""
_CHUNK = 1 << 16
_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://", re.ASCII)


def is_url(place: str) -> bool:
    """Return True if the place of a repository is a URL, False if it is a folder."""
    return _URL.match(place) is not None


def fetcher(place: str) -> Callable[[str, int], bytes]:
    """Return a function that reads files below a URL and raises OSError. Raises ConfigurationError for other schemes,
    and for a URL with a user, a query or a fragment."""
    base = urlsplit(place)
    if base.scheme not in ("http", "https") or not base.hostname or "@" in base.netloc or base.query or base.fragment:
        expected = "a folder, or https://HOST/PATH"
        raise ConfigurationError(Problem("command line", None, "--from", "a URL that is not read", expected))
    opener = urllib.request.OpenerDirector()
    for handler in (urllib.request.HTTPHandler(), urllib.request.HTTPSHandler(), urllib.request.HTTPErrorProcessor(),
                    urllib.request.HTTPDefaultErrorHandler(), _SameScheme(base.scheme)):  # fmt: skip
        opener.add_handler(handler)

    ends, held = time.monotonic() + MOST_SECONDS, [0]

    def fetch(name: str, most: int) -> bytes:
        if time.monotonic() > ends or held[0] > MOST_BYTES:
            raise OSError(errno.EFBIG, f"more than {MOST_BYTES >> 20} MiB or {MOST_SECONDS} seconds in all")
        try:
            data = _fetch(opener, f"{place.rstrip('/')}/{name}", most)
            held[0] += len(data)
            return data
        except urllib.error.HTTPError as error:
            error.close()
            raise OSError(errno.EIO, f"the server answers {error.code}") from None
        except TimeoutError:
            raise OSError(errno.ETIMEDOUT, f"no answer within {SECONDS} seconds") from None
        except urllib.error.URLError:
            raise OSError(errno.EIO, "the server can't be reached") from None
        except (http.client.HTTPException, ValueError):
            raise OSError(errno.EIO, "the server's answer can't be read") from None

    return fetch


class _SameScheme(urllib.request.HTTPRedirectHandler):
    """Handler that follows no redirect to another scheme: not to plain http, and never to a file."""

    def __init__(self, scheme: str) -> None:
        self.scheme = scheme

    def redirect_request(self, req: Any, fp: Any, code: int, msg: str, headers: Any, newurl: str) -> Any:
        if urlsplit(newurl).scheme != self.scheme:
            fp.close()
            raise urllib.error.URLError("a redirect to another scheme")
        return super().redirect_request(req, fp, code, msg, headers, newurl)


def _fetch(opener: urllib.request.OpenerDirector, url: str, most: int) -> bytes:
    """Fetch in a separate thread, so that a server that sends its headers byte by byte meets the same time limit."""
    body = Future[bytes]()

    def work() -> None:
        try:
            body.set_result(_body(opener, url, most))
        except Exception as error:
            body.set_exception(error)

    Thread(target=work, daemon=True).start()
    return body.result(timeout=SECONDS)


def _body(opener: urllib.request.OpenerDirector, url: str, most: int) -> bytes:
    deadline, data = time.monotonic() + SECONDS, bytearray()
    with opener.open(url, timeout=SECONDS) as answer:
        while chunk := answer.read1(_CHUNK):
            data += chunk
            if len(data) > most:
                raise OSError(errno.EFBIG, f"larger than {most >> 10} KiB")
            if time.monotonic() > deadline:
                raise TimeoutError
        if answer.length:
            raise OSError(errno.EIO, "the server's answer ends too early")
    return bytes(data)
