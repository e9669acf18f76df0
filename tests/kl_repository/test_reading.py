"""A repository is read as a whole or refused: from a folder, and from a URL."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from http.server import BaseHTTPRequestHandler, SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from crowdgate.anonymity.kl import index, web
from crowdgate.anonymity.kl.reading import STAGING, Repository, read_repository
from crowdgate.errors import ConfigurationError, CrowdgateError, FileFault, VerificationFailed
from crowdgate.limits import LARGEST_ENTRY
from tests.kl_repository.shelves import TODAY, entry, said, shelf
from tests.signing.desk import new_key

KEY, OTHER = new_key(), new_key()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    shelf(tmp_path / "kl", KEY, said(), said("public"), said("release"))
    return tmp_path / "kl"


def read(place: object) -> Repository:
    return read_repository(str(place), [KEY.public], TODAY)


def first(folder: Path) -> Path:
    return next(path for path in sorted(folder.iterdir()) if path.name != index.NAME)


def test_all_entries_are_read_with_their_signers(folder: Path) -> None:
    (folder / STAGING).mkdir()
    found = read(folder)
    assert sorted(each.entry.basis.kind for each in found.entries) == ["charged", "public", "release"]
    assert {each.signers for each in found.entries} == {(KEY.public.id,)}
    assert found.date == "2030-01-01"


def add_file(folder: Path) -> None:
    (folder / "notes.txt").write_text("x")


def add_entry(folder: Path) -> None:
    """Add an entry that a trusted key signed and the index does not list."""
    other = folder.parent / "other"
    shelf(other, KEY, said(kl=0.4))
    first(other).rename(folder / first(other).name)


def take_entry(folder: Path) -> None:
    first(folder).unlink()


def change_entry(folder: Path) -> None:
    first(folder).write_bytes(first(folder).read_bytes() + b" ")


def swap_entry(folder: Path) -> None:
    """Put one entry's bytes under another's name."""
    paths = [path for path in sorted(folder.iterdir()) if path.name != index.NAME]
    paths[0].write_bytes(paths[1].read_bytes())


def link_entry(folder: Path) -> None:
    path = first(folder)
    path.rename(folder.parent / "elsewhere")
    path.mkdir()


def untrusted_entry(folder: Path) -> None:
    """Add an entry of an untrusted key to a trusted index."""
    other = folder.parent / "other"
    digests = shelf(other, OTHER, said())
    for path in other.iterdir():
        path.rename(folder / path.name)
    listed = [each.digest for each in read_repository(str(folder.parent / "copy"), [KEY.public], TODAY).entries]
    (folder / index.NAME).write_bytes(index.signed_index([*listed, *digests], TODAY, KEY))


def old_index(folder: Path) -> None:
    """Restore an older index, and keep entries that it does not list."""
    listed = [first(folder).name.removesuffix(index.SUFFIX)]
    (folder / index.NAME).write_bytes(index.signed_index(listed, TODAY, KEY))


def foreign_index(folder: Path) -> None:
    listed = [each.digest for each in read(folder).entries]
    (folder / index.NAME).write_bytes(index.signed_index(listed, TODAY, OTHER))


def entry_as_index(folder: Path) -> None:
    (folder / index.NAME).write_bytes(first(folder).read_bytes())


def hide_in_staging(folder: Path) -> None:
    (folder / STAGING).symlink_to(folder.parent)


SPOILT: list[tuple[Callable[[Path], None], str]] = [
    (add_file, "'notes.txt' is there, and the index does not list it"),
    (add_entry, "is there, and the index does not list it"),
    (take_entry, "No such file or directory, and the index lists it"),
    (change_entry, "its bytes do not have the digest in its name"),
    (swap_entry, "its bytes do not have the digest in its name"),
    (link_entry, "a folder, not a regular file, and the index lists it"),
    (untrusted_entry, "none of these keys is among the 1 trusted keys"),
    (old_index, "is there, and the index does not list it"),
    (foreign_index, "none of these keys is among the 1 trusted keys"),
    (entry_as_index, "expected 'application/vnd.crowdgate.kl-index.v1\\+json'"),
    (hide_in_staging, "is there, and the index does not list it"),
]


@pytest.mark.parametrize(("spoil", "why"), SPOILT, ids=[each.__name__ for each, _ in SPOILT])
def test_whatever_is_not_listed_signed_and_unchanged_refuses_all(
    spoil: Callable[[Path], None], why: str, folder: Path, tmp_path: Path
) -> None:
    shelf(tmp_path / "copy", KEY, said(), said("public"), said("release"))
    spoil(folder)
    with pytest.raises(VerificationFailed, match=why):
        read(folder)


def test_a_folder_without_an_index_is_no_repository(tmp_path: Path) -> None:
    with pytest.raises(FileFault, match="expected the index of a KL repository"):
        read(tmp_path)


@contextmanager
def served(handler: Any) -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: Any) -> None:
        pass


def test_a_url_is_read_as_the_folder_is_but_for_files_that_nobody_can_list(folder: Path) -> None:
    with served(partial(Quiet, directory=str(folder.parent))) as url:
        assert read(f"{url}/kl").entries == read(folder).entries
        take_entry(folder)
        with pytest.raises(VerificationFailed, match="the server answers 404, and the index lists it"):
            read(f"{url}/kl/")


class Answering(BaseHTTPRequestHandler):
    """A server that answers everything with `to`: a redirect, or too much."""

    to = ""

    def do_GET(self) -> None:
        if self.to:
            self.send_response(302)
            self.send_header("Location", self.to)
            self.end_headers()
            return
        self.send_response(200)
        self.end_headers()
        with suppress(OSError):  # the reader hangs up
            for _ in range((LARGEST_ENTRY >> 16) + 3):
                self.wfile.write(bytes(1 << 16))

    def log_message(self, format: str, *args: Any) -> None:
        pass


@pytest.mark.parametrize("to", ["file:///etc/hostname", "https://127.0.0.1:1/", "ftp://127.0.0.1/x"])
def test_no_redirect_leads_to_another_scheme(to: str) -> None:
    with (
        served(type("Redirecting", (Answering,), {"to": to})) as url,
        pytest.raises(FileFault, match=r"can't be reached|answers 302"),
    ):
        read(url)


def test_an_endless_answer_is_cut_off() -> None:
    with served(Answering) as url, pytest.raises(OSError, match="larger than 256 KiB"):
        web.fetcher(url)("x", LARGEST_ENTRY)


class Spoilt(Quiet):
    """A server of a folder that changes the bytes of its index, or of its entries, by `send`."""

    send: Callable[["Spoilt", bytes], None]
    which = ""

    def do_GET(self) -> None:
        if ("index" in self.path) != (self.which == "index"):
            super().do_GET()
            return
        with suppress(OSError):  # the reader hangs up
            type(self).send(self, Path(self.translate_path(self.path)).read_bytes())


def answer(self: Spoilt, *lines: str, body: bytes = b"") -> None:
    self.wfile.write("".join(f"{line}\r\n" for line in ("HTTP/1.1 200 OK", *lines, "")).encode() + body)


def cut(self: Spoilt, right: bytes) -> None:
    answer(self, f"Content-Length: {len(right)}", body=right[:-9])


def cut_chunk(self: Spoilt, right: bytes) -> None:
    answer(self, "Transfer-Encoding: chunked", body=b"%x\r\n" % len(right) + right[:-9])


def cut_without_length(self: Spoilt, right: bytes) -> None:
    answer(self, body=right[:-9])


def endless(self: Spoilt, right: bytes) -> None:
    answer(self, body=right)
    while True:
        self.wfile.write(bytes(1 << 16))


def no_http(self: Spoilt, _: bytes) -> None:
    self.wfile.write(b"hello\r\n")


def in_a_circle(self: Spoilt, _: bytes) -> None:
    self.wfile.write(f"HTTP/1.1 302 Found\r\nLocation: {self.path}\r\nContent-Length: 0\r\n\r\n".encode())


@pytest.mark.parametrize("which", ["index", "entry"])
@pytest.mark.parametrize(
    ("send", "why"),
    [
        (cut, "the server's answer ends too early"),
        (cut_chunk, "the server's answer can't be read"),
        (cut_without_length, "not a signed envelope|its bytes do not have the digest"),
        (endless, "larger than"),
        (no_http, "the server's answer can't be read"),
        (in_a_circle, "the server answers 302"),
    ],
)
def test_an_answer_that_is_spoilt_refuses_all(send: Any, why: str, which: str, folder: Path) -> None:
    handler = type("Spoiling", (Spoilt,), {"send": send, "which": which})
    with served(partial(handler, directory=str(folder))) as url, pytest.raises(CrowdgateError, match=why) as told:
        read(url)
    assert len(str(told.value).splitlines()) == (1 if which == "index" else 3)


def test_a_server_that_is_gone_is_not_asked_for_every_entry(tmp_path: Path) -> None:
    shelf(tmp_path, KEY, *(said(kl=0.4 + at / 100) for at in range(30)))
    asked: list[str] = []

    class Gone(Quiet):
        def do_GET(self) -> None:
            if "index" in self.path:
                super().do_GET()
            else:
                asked.append(self.path)

    with served(partial(Gone, directory=str(tmp_path))) as url, pytest.raises(VerificationFailed) as told:
        read(url)
    assert len(asked) == 10
    assert str(told.value).splitlines()[-1].endswith("no further entry was read")


def test_headers_that_never_end_are_waited_for_no_longer_than_a_file(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(web, "SECONDS", 0.2)
    over = threading.Event()

    def drip(self: Spoilt, _: bytes) -> None:
        self.wfile.write(b"HTTP/1.1 200 OK\r\n")
        while not over.wait(0.05):
            self.wfile.write(b"X")

    handler = type("Dripping", (Spoilt,), {"send": drip, "which": "index"})
    with served(partial(handler, directory=str(folder))) as url:
        try:
            with pytest.raises(FileFault, match="no answer within"):
                read(url)
        finally:
            over.set()


@pytest.mark.parametrize("limit", ["MOST_BYTES", "MOST_SECONDS"])
def test_a_repository_without_end_is_cut_off(limit: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(web, limit, -1)
    with served(partial(Quiet, directory=str(folder))) as url, pytest.raises(FileFault, match="seconds in all"):
        read(url)


@pytest.mark.parametrize(
    "place", ["file:///tmp", "ftp://example.org/", "http://", "https://u:p@example.org/", "http://example.org/?a=b"]
)
def test_other_urls_are_not_read(place: str) -> None:
    with pytest.raises(ConfigurationError, match="a URL that is not read"):
        read(place)


def test_nobody_at_the_other_end_is_said_so() -> None:
    with pytest.raises(FileFault, match="can't be reached"):
        read("http://127.0.0.1:1/kl")


def test_an_entry_of_the_future_is_refused_where_it_is_listed(tmp_path: Path) -> None:
    shelf(tmp_path, KEY, said(date="2030-01-03"))
    with pytest.raises(VerificationFailed, match="dated in the future"):
        read(tmp_path)
    assert entry(said(date="2030-01-03"))
