"""A small object store with the interface of S3, for reading: objects, ranges and listings, over HTTP."""

import atexit
import hashlib
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, unquote, urlsplit
from xml.sax.saxutils import escape

Objects = dict[str, bytes]
"""Contents by `BUCKET/KEY`."""
TAG = "ETag"
"""The header that states the version of an object."""
_WHEN = "Tue, 01 Jan 2030 00:00:00 GMT"


@cache
def running_store() -> tuple[str, Objects]:
    """Return the URL of a store that runs until the process ends, and its objects; its keys are in the environment."""
    objects: Objects = {}
    store = object_store(objects)
    url = store.__enter__()
    os.environ.update(AWS_ACCESS_KEY_ID="reader", AWS_SECRET_ACCESS_KEY="secret", AWS_ENDPOINT_URL=url)
    atexit.register(store.__exit__, None, None, None)
    return url, objects


@contextmanager
def object_store(objects: Objects, accepted: str = "reader") -> Iterator[str]:
    """Serve objects to requests signed with the key id `accepted`. Yield the URL."""

    class Answers(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def do_GET(self) -> None:
            url = urlsplit(self.path)
            path, query = unquote(url.path).strip("/"), parse_qs(url.query, keep_blank_values=True)
            if f"Credential={accepted}/" not in self.headers.get("Authorization", ""):
                self._send(403, b"<Error><Code>AccessDenied</Code></Error>")
            elif "list-type" in query:
                self._send(200, _listing(objects, path, query))
            elif path in objects:
                self._send_object(objects[path])
            else:
                self._send(200 if "/" not in path else 404, b"")

        do_HEAD = do_GET

        def _send_object(self, data: bytes) -> None:
            tag = {TAG: f'"{hashlib.md5(data).hexdigest()}"', "Last-Modified": _WHEN}
            wanted = self.headers.get("Range")
            if wanted is None:
                self._send(200, data, **tag)
                return
            first, last = (int(each) for each in wanted.removeprefix("bytes=").split("-"))
            part = data[first : last + 1]
            where = f"bytes {first}-{first + len(part) - 1}/{len(data)}"
            self._send(206, part, **tag, **{"Content-Range": where})

        def _send(self, status: int, body: bytes, **headers: str) -> None:
            self.send_response(status)
            for name, value in {"Content-Length": str(len(body)), **headers}.items():
                self.send_header(name, value)
            self.end_headers()
            if self.command == "GET":
                self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Answers)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _listing(objects: Objects, bucket: str, query: dict[str, list[str]]) -> bytes:
    prefix = query.get("prefix", [""])[0]
    found = {path.partition("/")[2]: data for path, data in objects.items() if path.startswith(f"{bucket}/{prefix}")}
    listed = "".join(
        f"<Contents><Key>{escape(key)}</Key><Size>{len(data)}</Size>"
        "<LastModified>2030-01-01T00:00:00.000Z</LastModified></Contents>"
        for key, data in sorted(found.items())
    )
    count = f"<KeyCount>{len(found)}</KeyCount><IsTruncated>false</IsTruncated>"
    return f"<ListBucketResult><Name>{bucket}</Name>{count}{listed}</ListBucketResult>".encode()
