"""A small S3 server in memory for tests, a program: `python tests/s3_server.py PORT_FILE`.

It keeps the promises that Crowdgate needs of S3: an object is replaced whole, If-None-Match and If-Match are judged
under one lock, and a list shows what was put. Buckets need not be made. In a bucket whose name starts with `careless`
conditions are ignored, as old servers do.
"""

import hashlib
import re
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, unquote, urlsplit
from xml.sax.saxutils import escape, unescape

OBJECTS: dict[tuple[str, str], bytes] = {}
LOCK = threading.Lock()


class S3Handler(BaseHTTPRequestHandler):
    """Answers to the requests of an S3 client, without checking their signatures."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def place(self) -> tuple[str, str]:
        """Return the bucket and the key of a request."""
        bucket, _, key = unquote(urlsplit(self.path).path).lstrip("/").partition("/")
        return bucket, key

    def answer(self, code: int, data: bytes = b"", **headers: str) -> None:
        """Send a whole answer."""
        self.send_response(code)
        for name, value in {"Content-Length": str(len(data)), **headers}.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def failed(self, code: int, name: str) -> None:
        """Send an error."""
        self.answer(code, f"<Error><Code>{name}</Code></Error>".encode(), Content_Type="application/xml")

    def do_PUT(self) -> None:
        """Put an object, if the conditions hold."""
        data = self.body()
        place = self.place()
        with LOCK:
            there, careless = OBJECTS.get(place), place[0].startswith("careless")
            if not careless and self.headers.get("If-None-Match") == "*" and there is not None:
                return self.failed(412, "PreconditionFailed")
            wanted = self.headers.get("If-Match")
            if not careless and wanted is not None and (there is None or tag(there) != wanted):
                return self.failed(412, "PreconditionFailed")
            if place[1]:  # without a key a bucket is made
                OBJECTS[place] = data
        return self.answer(200, ETag=tag(data))

    def body(self) -> bytes:
        """Return the body of a request, also of one in chunks that are signed each."""
        data = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        assert "aws-chunked" not in self.headers.get("Content-Encoding", "")
        return data

    def do_GET(self) -> None:
        """Send an object, or the list of a bucket."""
        bucket, key = self.place()
        if not key:
            return self.list_objects(bucket)
        with LOCK:
            data = OBJECTS.get((bucket, key))
        if data is None:
            return self.failed(404, "NoSuchKey")
        return self.answer(200, data, ETag=tag(data), Last_Modified="Tue, 01 Jan 2030 00:00:00 GMT")

    do_HEAD = do_GET

    def list_objects(self, bucket: str) -> None:
        """Send the list of all objects below a prefix."""
        prefix = parse_qs(urlsplit(self.path).query).get("prefix", [""])[0]
        with LOCK:
            found = sorted((key, data) for (name, key), data in OBJECTS.items() if name == bucket)
        rows = "".join(
            f"<Contents><Key>{escape(key)}</Key><Size>{len(data)}</Size><ETag>{escape(tag(data))}</ETag>"
            "<LastModified>2030-01-01T00:00:00.000Z</LastModified></Contents>"
            for key, data in found
            if key.startswith(prefix)
        )
        text = f"<ListBucketResult><IsTruncated>false</IsTruncated>{rows}</ListBucketResult>"
        self.answer(200, text.encode(), Content_Type="application/xml")

    def do_DELETE(self) -> None:
        """Delete an object."""
        with LOCK:
            OBJECTS.pop(self.place(), None)
        self.answer(204)

    def do_POST(self) -> None:
        """Delete the objects that the body lists."""
        keys = re.findall("<Key>([^<]*)</Key>", self.body().decode())
        with LOCK:
            for key in keys:
                OBJECTS.pop((self.place()[0], unescape(key)), None)
        rows = "".join(f"<Deleted><Key>{key}</Key></Deleted>" for key in keys)
        self.answer(200, f"<DeleteResult>{rows}</DeleteResult>".encode(), Content_Type="application/xml")

    def log_message(self, *_: object) -> None:
        """Write no log."""


def tag(data: bytes) -> str:
    """Return the tag of an object's version."""
    return f'"{hashlib.md5(data, usedforsecurity=False).hexdigest()}"'


if __name__ == "__main__":
    server = ThreadingHTTPServer(("127.0.0.1", 0), S3Handler)
    Path(f"{sys.argv[1]}.part").write_text(str(server.server_port))
    Path(f"{sys.argv[1]}.part").rename(sys.argv[1])
    server.serve_forever()
