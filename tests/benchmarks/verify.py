"""Verification of a release beside pyarrow reading its data and counting classes: `python -m tests.benchmarks.verify`.

Each run is a process of its own; CPU seconds are user + system without imports, memory is the process's peak. `read` is
what a user would write: the table with its text, then the counts of its distinct rows. `floor` reads the text columns
as dictionaries, the fastest way there is. Both read the data once; verification also digests all files and writes them
again to compare them.
"""

import argparse
import json
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.benchmarks.options import parse
from tests.benchmarks.people import make_people_workshop, write_people

KINDS = ("read", "floor", "verify")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=20_500_000, help="of the table; a release keeps half of them")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--formats", nargs="*", default=["parquet", "csv", "parquet, csv"])
    parser.add_argument("--child", nargs=3, help=argparse.SUPPRESS)
    options = parse(parser, rows=1000, runs=1, formats=["parquet, csv"])
    if options.child:
        print(json.dumps(_child(*options.child)))
        return
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder) / "people.parquet"
        write_people(data, options.rows)
        for formats in options.formats:
            release = _release(Path(folder) / formats.replace(", ", "-"), data, formats)
            _report(release, formats, options.runs)


def _release(root: Path, data: Path, formats: str) -> Path:
    from crowdgate.kind.run import Request
    from crowdgate.ledger.key import draw_key
    from crowdgate.releases import release as job

    policy = make_people_workshop(root, data, "0.5")
    text = policy.read_text(encoding="utf-8")
    policy.write_text(text.replace("formats: [parquet]", f"formats: [{formats}]"), encoding="utf-8")
    made = job.release(Request(policy, "2030-01-01"), draw_key).path
    assert made is not None, "the release is published"
    return made


def _report(release: Path, formats: str, runs: int) -> None:
    first = formats.partition(",")[0]
    found = [{kind: _run(kind, release, first) for kind in KINDS} for _ in range(runs)]
    size = sum(path.stat().st_size for path in release.iterdir())
    rows = json.loads((release / "manifest.json").read_bytes())["data"]["rows"]
    best = {kind: {name: min(run[kind][name] for run in found) for name in ("cpu", "peak_mb")} for kind in KINDS}
    print(f"{rows:,} released rows as {formats}, {size / 1e6:.0f} MB; minimum of {runs} runs in turn")
    for kind in KINDS:
        cpu, peak = best[kind]["cpu"], best[kind]["peak_mb"]
        print(f"  {kind:<7} {cpu:6.2f} CPU s  {cpu / best['read']['cpu']:5.2f}x of read  peak {peak:5.0f} MB")


def _run(kind: str, release: Path, form: str) -> dict[str, float]:
    command = [sys.executable, "-m", "tests.benchmarks.verify", "--child", kind, str(release), form]
    return dict(json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout))


def _child(kind: str, release: str, form: str) -> dict[str, float]:
    from crowdgate.verification.release import verify

    start = _cpu()
    if kind == "verify":
        verify(Path(release))
        _end_readers()
    else:
        _count(Path(release) / f"data.{form}", form, as_dictionary=kind == "floor")
    return {"cpu": _cpu() - start, "peak_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}


def _end_readers() -> None:
    """The process that reads Parquet first counts too: it does once it has ended."""
    from crowdgate.formats import parquet

    if parquet._TRIAL.process is not None:
        parquet._end_process(parquet._TRIAL.process)


def _cpu() -> float:
    """Return the CPU seconds of this process and of those that it waited for."""
    spent = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(each.ru_utime + each.ru_stime for each in spent)


def _count(path: Path, form: str, *, as_dictionary: bool) -> None:
    import pyarrow as pa
    import pyarrow.csv
    import pyarrow.parquet as pq

    if form == "parquet":
        names = pq.read_schema(path).names
        table = pq.read_table(path, read_dictionary=names if as_dictionary else None)
    else:
        options = pyarrow.csv.ConvertOptions(auto_dict_encode=as_dictionary, default_column_type=pa.string())
        table = pyarrow.csv.read_csv(path, convert_options=options)
    table.unify_dictionaries().group_by(table.column_names).aggregate([([], "count_all")])


if __name__ == "__main__":
    main()
