"""The steps of the container file, run in a root of their own without a network; by hand (`soak`): minutes.

The base is this machine: an overlay takes what is written, so that nothing stays. It needs root.
"""

import json
import os
import re
import shlex
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
STEPS = re.findall(r"^(\w+) (.*)$", (ROOT / "flows/units/Containerfile").read_text(), flags=re.MULTILINE)
MOUNTS = """
mount --make-rprivate /
mkdir upper work root
mount -t overlay overlay -o lowerdir=/,upperdir=upper,workdir=work root
mount --rbind /proc root/proc
mount --rbind /dev root/dev
mount -t tmpfs tmpfs root/tmp
chmod o+x root/root
mkdir -p root/srv/crowdgate
chown 10001:10001 root/srv/crowdgate
"""
"""The root of the container: this machine's files, with a folder for data, as a volume would be. Its Python may lie in
root's home."""


def script(command: str) -> str:
    """Return the container file's steps as a script for a new root, and then `command` after its entry point."""
    variables, user, folder, lines = {"PATH": os.environ["PATH"], "HOME": "/nonexistent"}, "0:0", "/", [MOUNTS]
    for word, text in STEPS:
        if word == "COPY":
            source, target = text.split()
            lines.append(f"cp -r {source} root{target}")
        elif word == "RUN":
            lines.append(_in_root(text, variables, user, folder))
        elif word == "ENV":
            for each in text.replace("$PATH", variables["PATH"]).split():
                name, _, value = each.partition("=")
                variables[name] = value
        elif word == "USER":
            user = text
        elif word == "WORKDIR":
            folder = text
        elif word == "ENTRYPOINT":
            lines.append(_in_root(f"{shlex.join(json.loads(text))} {command}", variables, user, folder))
        else:
            assert word in ("ARG", "FROM"), f"this test does not know the step {word}"
    return "\n".join(lines)


def _in_root(command: str, variables: dict[str, str], user: str, folder: str) -> str:
    own, group = user.split(":")
    named = shlex.join(f"{name}={value}" for name, value in variables.items())
    inside = f"cd {folder} && exec env -i {named} setpriv --reuid {own} --regid {group} --clear-groups {command}"
    return f"chroot root sh -euc {shlex.quote(inside)}"


@pytest.mark.soak
def test_the_steps_make_an_image_that_publishes_the_demo_as_another_user(tmp_path: Path) -> None:
    if os.geteuid():
        pytest.skip("mounting a root needs root")
    made = subprocess.run([ROOT / ".ci" / "wheelhouse", tmp_path / "wheelhouse"], capture_output=True, check=False)
    if made.returncode:
        pytest.skip("the wheels can't be downloaded here")
    alone = ["unshare", "--mount", "--net", "bash", "-euc", script("demo")]
    done = subprocess.run(alone, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    published = tmp_path / "upper" / done.stdout.splitlines()[-1].lstrip("/")
    assert (published / "manifest.json").stat().st_uid == 10001
    assert not (tmp_path / "upper/wheels/requirements.txt").is_file()
