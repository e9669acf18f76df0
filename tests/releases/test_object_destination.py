"""Releases in an object store: whole or not there, once, whatever is killed, fails or writes at the same time."""

import json
import multiprocessing
import os
import re
import shutil
import signal
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from crowdgate.errors import CrowdgateError, VerificationFailed
from crowdgate.ledger.ledger import State, open_ledger
from crowdgate.planning.catalogue import is_later
from crowdgate.planning.stored_catalogue import verify_stored_catalogue
from crowdgate.publish.fetched_objects import fetched_release
from crowdgate.publish.object_store import ObjectStore, parse_object_url
from crowdgate.publish.objects import publish_objects, put_catalogue
from crowdgate.signing.keys import SigningKey, create, public_keys, signing_key
from crowdgate.signing.statement import LedgerPlace, catalogue_statement, sign_statement
from crowdgate.verification.release import verify
from tests.servers import S3Server
from tests.workshop import Workshop, crowdgate, make_workshop

SLOT = "2030-01-01"
ID = f"clinic/1/{SLOT}"
PROCESSES = multiprocessing.get_context("forkserver")
PROCESSES.set_forkserver_preload([__name__])
REQUESTS = ("send", "receive", "delete", "list_names")
"""Methods of the client that talk to the store."""


@pytest.fixture
def url(s3: S3Server) -> str:
    return f"s3://{s3.new_bucket()}/portal/data"


def at_store(workshop: Workshop, url: str) -> Workshop:
    """Let a working copy publish to an object store."""
    workshop.edit(workshop.policy, "to: releases", f"to: '{url}'")
    return workshop


def in_process(work: Callable[..., None], *arguments: Any) -> int | None:
    """Return the exit code of a function in a process of its own, which the client's threads need."""
    process = PROCESSES.Process(target=_run, args=(dict(os.environ), Path.cwd(), work, arguments))
    process.start()
    process.join()
    return process.exitcode


def _run(variables: dict[str, str], folder: Path, work: Callable[..., None], arguments: tuple[Any, ...]) -> None:
    os.environ.update(variables)
    os.chdir(folder)
    work(*arguments)


def stop_at(number: int, when: str, how: str) -> list[int]:
    """Kill this process before or after its request of this number, or let this request fail; return the counter."""
    from obstore.exceptions import GenericError

    count = [0]

    def broken() -> None:
        if how == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        raise GenericError("planted")

    def stopping(original: Callable[..., Any]) -> Callable[..., Any]:
        def request(*given: Any) -> Any:
            count[0] += 1
            here = count[0] == number
            if here and when == "before":
                broken()
            try:
                return original(*given)
            finally:
                if here and when == "after":
                    broken()

        return request

    for name in REQUESTS:
        setattr(ObjectStore, name, stopping(getattr(ObjectStore, name)))
    return count


def release_until(workshop: Workshop, number: int, when: str, how: str) -> None:
    """Make a release that is stopped at a request; exit with the command's code."""
    stop_at(number, when, how)
    raise SystemExit(crowdgate("release", workshop.policy, "--as-of", SLOT))


def count_requests(workshop: Workshop, told: Path) -> None:
    """Make a release, and write down how many requests it makes."""
    count = stop_at(0, "", "")
    assert crowdgate("release", workshop.policy, "--as-of", SLOT) == 0
    told.write_text(str(count[0]))


def is_visible(url: str) -> bool:
    """Return whether a reader sees the release; what is seen must be whole."""
    try:
        with fetched_release(f"{url}/{ID}") as folder:
            verify(folder)
    except VerificationFailed as error:
        if "no release is there" not in str(error):
            raise
        return False
    return True


def judge(workshop: Workshop, url: str) -> None:
    """Check what a stopped run left, run again, and check the end: published whole or never, and charged once."""
    before = is_visible(url)
    code = crowdgate("release", workshop.policy, "--as-of", SLOT)
    entry = open_ledger(workshop.ledger, None).entry(ID)
    if code == 0:
        assert is_visible(url)
        assert entry is not None
        assert entry.state is State.PUBLISHED
        assert verify(workshop.root / "outbox" / url.removeprefix("s3://") / ID, workshop.ledger)
        assert not ObjectStore(parse_object_url(url)).names(".crowdgate-staging")
    else:
        assert code == 5
        assert not before
        assert not is_visible(url)
        assert entry is not None
        assert entry.state is State.RESERVED
    charged = [each for each in open_ledger(workshop.ledger, None).entries() if each.state is not State.VOID]
    assert len(charged) == 1


def check_stop(workshop: Workshop, url: str, number: int, when: str, how: str) -> None:
    """Stop a release at a request, and judge what follows."""
    code = in_process(release_until, at_store(workshop, url), number, when, how)
    assert code == -signal.SIGKILL if how == "kill" else code in (0, 1), code
    assert in_process(judge, workshop, url) == 0


@pytest.mark.thorough
@pytest.mark.parametrize("how", ["kill", "fail"])
@pytest.mark.parametrize(("number", "when"), [(6, "after"), (18, "before"), (20, "after")])
def test_a_run_stopped_at_a_request_leaves_a_whole_release_or_none(
    workshop: Workshop, url: str, how: str, number: int, when: str
) -> None:
    check_stop(workshop, url, number, when, how)


@pytest.mark.soak
@pytest.mark.parametrize("how", ["kill", "fail"])
def test_a_run_stopped_at_any_request_leaves_a_whole_release_or_none(tmp_path: Path, s3: S3Server, how: str) -> None:
    first = at_store(make_workshop(tmp_path / "0"), f"s3://{s3.new_bucket()}/p")
    assert in_process(count_requests, first, tmp_path / "count") == 0
    for number in range(1, int((tmp_path / "count").read_text()) + 1):
        for when in ("before", "after"):
            workshop = make_workshop(tmp_path / f"{number}{when}")
            check_stop(workshop, f"s3://{s3.new_bucket()}/p", number, when, how)


def life(workshop: Workshop, url: str) -> None:
    """Release twice, verify, withdraw, and read what is left."""
    os.chdir(workshop.root)
    assert crowdgate("keys", "create", "own.key") == 0
    (workshop.root / "crowdgate.toml").write_text('ledger = "sqlite:///ledger/ledger.db"\nsigning_key = "own.key"\n')
    assert crowdgate("ledger", "sign") == 0
    later = ID.replace("-01-01", "-01-02")
    for slot in (SLOT, "2030-01-02"):
        assert crowdgate("release", workshop.policy, "--as-of", slot) == 0
        assert crowdgate("verify", f"{url}/clinic/1/{slot}", "--key", "own.key.pub", "--ledger", workshop.ledger) == 0
    store = ObjectStore(parse_object_url(url))
    catalogue = store.read("catalogue.dsse.json", 1 << 20)
    assert latest(store) == later
    recover_own_copy(workshop, store)
    assert crowdgate("withdraw", later, "--reason", "an error") == 0
    assert crowdgate("verify", f"{url}/{later}") == 6
    assert latest(store) == ID
    assert store.names(later) == [f"{later}/withdrawn.dsse.json", f"{later}/withdrawn.json"]
    assert store.read("catalogue.dsse.json", 1 << 20) != catalogue
    assert crowdgate("verify", f"{url}/{ID}", "--key", "own.key.pub") == 0
    assert crowdgate("verify", f"{url}/clinic/1/2030-01-09") == 6
    assert crowdgate("verify", "s3://b") == crowdgate("verify", "https://host/x") == 2
    assert crowdgate("catalogue", "verify", url, "--key", "own.key.pub") == 0
    assert crowdgate("catalogue", "verify", "s3://b", "--key", "own.key.pub") == 2
    refuse_forged_destinations(store, later)


def recover_own_copy(workshop: Workshop, store: ObjectStore) -> None:
    """Ask again for a release that another machine published: it is copied from the store, unless that was changed."""
    own = workshop.root / "outbox" / store.address.bucket / store.address.prefix / ID
    before = {each.name: each.read_bytes() for each in own.iterdir()}
    data = next(name for name in store.names(ID) if name.endswith("data.parquet"))
    for changed, code in ((True, 5), (False, 0)):
        shutil.rmtree(own)
        if changed:
            store.remove(data)
        assert crowdgate("release", workshop.policy, "--as-of", SLOT) == code
        assert own.exists() is not changed
        own.mkdir(exist_ok=True)
        store.put_new(data, before["data.parquet"])
    assert {each.name: each.read_bytes() for each in own.iterdir()} == before
    assert {each.stat().st_mode & 0o777 for each in own.iterdir()} == {0o644}


def refuse_forged_destinations(store: ObjectStore, gone: str) -> None:
    """Change one object after another: the catalogue of the destination is refused each time, with the object named."""
    trusted = public_keys(Path("own.key.pub"))
    for name, forged in [
        (f"{ID}/manifest.json", b"{}"),
        (f"{ID}/manifest.json", None),
        (f"{gone}/withdrawn.json", b"{}"),
        (f"{gone}/withdrawn.dsse.json", None),
        (f"{gone}/manifest.json", b"{}"),
        ("clinic/latest.json", b"{}"),
        ("clinic/1/2030-01-09/manifest.json", b"{}"),
        ("catalogue.dsse.json", None),
    ]:
        before = store.read(name, 1 << 20)
        store.remove(name)
        if forged is not None:
            store.put_new(name, forged)
        expected = gone if "withdrawn" in name else name
        with pytest.raises(VerificationFailed, match=f"{store.address}/{re.escape(expected)}|no {expected}"):
            verify_stored_catalogue(str(store.address), trusted)
        store.remove(name)
        if before is not None:
            store.put_new(name, before.data)
    assert verify_stored_catalogue(str(store.address), trusted)


def keep_the_later_catalogue(url: str, folder: Path) -> None:
    """Put catalogues of two machines that share a ledger, the older one last; one that nobody trusted signed counts
    for nothing.
    """
    own, other = (_key(folder / name) for name in ("own.key", "other.key"))
    store, path = ObjectStore(parse_object_url(url)), folder / "catalogue.dsse.json"

    def put(line: int, key: SigningKey = own) -> bytes:
        place = LedgerPlace(id="demo-00000000", line=line, digest="0" * 64)
        path.write_bytes(sign_statement(catalogue_statement(place, {ID: "0" * 64}), [key]))
        put_catalogue(store, path, lambda there, here: is_later(there, here, [own.public]))
        found = store.read(path.name, 1 << 20)
        assert found is not None
        return found.data

    later = put(7)
    assert put(5) == later
    put(9, other)
    assert put(8) == path.read_bytes()


def _key(path: Path) -> SigningKey:
    create(path)
    return signing_key(path.read_bytes(), path.name)


@pytest.mark.thorough
def test_an_older_catalogue_of_another_machine_replaces_no_later_one(tmp_path: Path, s3: S3Server) -> None:
    assert in_process(keep_the_later_catalogue, f"s3://{s3.new_bucket()}/p", tmp_path) == 0


def latest(store: ObjectStore) -> str:
    """Return the release that the pointer of the policy names."""
    found = store.read("clinic/latest.json", 4096)
    assert found is not None
    return str(json.loads(found.data)["release"])


@pytest.mark.thorough
def test_a_release_in_a_store_is_verified_withdrawn_and_pointed_to(workshop: Workshop, url: str) -> None:
    assert in_process(life, at_store(workshop, url), url) == 0


@pytest.mark.thorough
def test_a_store_that_ignores_conditions_is_refused_before_a_charge(workshop: Workshop, s3: S3Server) -> None:
    bucket = s3.new_bucket("careless")
    at_store(workshop, f"s3://{bucket}/p")
    assert in_process(release_until, workshop, 0, "", "") == 1
    assert open_ledger(workshop.ledger, None).entries() == []
    listed = urllib.request.urlopen(f"{s3.url}/{bucket}?list-type=2").read().decode()
    assert "<Key>" not in listed


def run_as_writer(workshop: Workshop, barrier: Any) -> None:
    """Make a release at the same moment as others."""
    barrier.wait()
    raise SystemExit(crowdgate("release", workshop.policy, "--as-of", SLOT))


def look_often(url: str, stop: Any) -> None:
    """Read the release again and again; once it is seen it stays, and it is never half."""
    seen = False
    while not stop.is_set():
        visible = is_visible(url)
        assert visible or not seen
        seen = visible


@pytest.mark.thorough
@pytest.mark.parametrize("rounds", [1, pytest.param(20, marks=pytest.mark.soak)])
def test_of_two_ledgers_that_write_one_id_exactly_one_publishes(tmp_path: Path, s3: S3Server, rounds: int) -> None:
    for turn in range(rounds):
        url, barrier, stop = f"s3://{s3.new_bucket()}/p", PROCESSES.Barrier(2), PROCESSES.Event()
        writers = [at_store(make_workshop(tmp_path / f"{turn}-{at}"), url) for at in range(2)]
        here = (dict(os.environ), Path.cwd())
        reader = PROCESSES.Process(target=_run, args=(*here, look_often, (url, stop)))
        runs = [PROCESSES.Process(target=_run, args=(*here, run_as_writer, (each, barrier))) for each in writers]
        for each in (reader, *runs):
            each.start()
        for each in runs:
            each.join()
        stop.set()
        reader.join()
        assert reader.exitcode == 0
        assert sorted(str(each.exitcode) for each in runs) == ["0", "1"]
        charged = [len(open_ledger(each.ledger, None).entries()) for each in writers]
        assert sorted(charged) == [0, 1], "the other one charged nothing"


def publish_two_at_once(url: str, folders: list[Path]) -> None:
    """Publish two releases under one id, without claims: the condition on the manifest alone decides."""
    from concurrent.futures import ThreadPoolExecutor

    def publish(folder: Path) -> bool:
        try:
            publish_objects(ObjectStore(parse_object_url(url)), folder, ID)
        except CrowdgateError:
            return False
        return True

    with ThreadPoolExecutor(2) as pool:
        done = list(pool.map(publish, folders))
    assert sorted(done) == [False, True]
    with fetched_release(f"{url}/{ID}") as folder:
        assert verify(folder)
        winner = folders[done.index(True)]
        assert {each.name: each.read_bytes() for each in folder.iterdir()} == {
            each.name: each.read_bytes() for each in winner.iterdir()
        }


def refuse_forged_objects(url: str, folder: Path) -> None:
    """Read releases of a forger: a file that is larger than stated or missing, and a name that leaves the folder."""
    store = ObjectStore(parse_object_url(url))
    publish_objects(store, folder, ID)
    data = next(name for name in store.names(ID) if name.endswith("data.parquet"))
    sealed = (folder / "manifest.json").read_text()

    def refusal(text: str) -> None:
        with pytest.raises(VerificationFailed, match=text), fetched_release(f"{url}/{ID}"):
            pass

    store.remove(data)
    refusal("which its manifest lists, is missing")
    store.put_new(data, bytes((folder / "data.parquet").stat().st_size + 1))
    refusal("more than .* bytes")
    for old, new, said in (
        ('"data.parquet"', '"../data.parquet"', "its manifest is not valid"),
        ('"data.parquet"', r'"data\\u0000"', "its manifest is not valid"),
        ('"data.parquet"', f'"{"x" * 5000}"', "its manifest is not valid"),
        ('"data.parquet"', '"release.dsse.json"', "lists itself or its signature"),
        (r'"bytes": ?', '"bytes":99999999', "its files have more than"),
        ("^{", "no JSON", "its manifest is not valid"),
    ):
        store.remove(f"{ID}/manifest.json")
        store.put_new(f"{ID}/manifest.json", re.sub(old, new, sealed).encode())
        refusal(said)


@pytest.mark.thorough
def test_the_condition_on_the_manifest_alone_decides_and_a_reader_is_bounded(tmp_path: Path, s3: S3Server) -> None:
    folders = []
    for at in range(2):
        made = make_workshop(tmp_path / str(at))
        assert crowdgate("release", made.policy, "--as-of", SLOT) == 0
        folders.append(made.release_dir(SLOT))
    for _ in range(5):
        assert in_process(publish_two_at_once, f"s3://{s3.new_bucket()}/p", folders) == 0
    assert in_process(refuse_forged_objects, f"s3://{s3.new_bucket()}/p", folders[0]) == 0


@pytest.mark.thorough
@pytest.mark.parametrize(
    "bad", ["s3://", "s3://b", "s3://bucket", "s3://bucket/", "s3://Bucket/p", "s3://bucket/a//b", "s3://bucket/../x",
            "s3://bucket/a b", "s3://key:secret@bucket/p", "s3://bucket/p?x=1"]
)  # fmt: skip
def test_a_policy_that_names_no_place_in_a_bucket_is_refused(
    workshop: Workshop, bad: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert crowdgate("check", at_store(workshop, bad).policy) == 2
    assert "expected s3://BUCKET/PREFIX" in capsys.readouterr().err
