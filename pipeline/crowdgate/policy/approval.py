"""The approval that a release needs: who may give it, of which releases, when, and for how long it lasts."""

import hashlib
import re
from base64 import b64decode
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field, WithJsonSchema, model_validator

from crowdgate.limits import MOST_APPROVERS
from crowdgate.policy.field_order import (
    Direction,
    KeyField,
    ListField,
    NameField,
    ValueField,
    any_change,
    more_is_looser,
    more_is_tighter,
    rising,
)
from crowdgate.policy.values import Epsilon, Flag, Line, Strict, schema_of, whole_number

MOST_DAYS = 3650
"""The longest time for which an approval may last, in days: ten years."""
STEPS = {"charge": "charged", "publication": "published"}
"""The steps that wait for approvals, in words."""
_KEY = re.compile(r"MCowBQYDK2VwAyEA[A-Za-z0-9+/]{43}=")
"""The only line of an Ed25519 public key in PEM form: base64 of its SubjectPublicKeyInfo, 44 bytes."""


def _key(text: str) -> str:
    if not _KEY.fullmatch(text):
        raise ValueError("the line between BEGIN and END of a file KEY.pub, which `crowdgate keys create KEY` writes")
    return text


def _days(text: Any) -> int:
    stated = re.fullmatch(r"([0-9]{1,4}) days?", text) if isinstance(text, str) else None
    if stated is None or not 1 <= int(stated[1]) <= MOST_DAYS:
        raise ValueError(f"a number of days from 1 to {MOST_DAYS}, such as 30 days")
    return int(stated[1])


def _approvers(text: Any) -> int:
    number = whole_number(text)
    if not 1 <= number <= MOST_APPROVERS:
        raise ValueError(f"a whole number from 1 to {MOST_APPROVERS}")
    return number


class Approver(Strict):
    """A person or a body that may approve releases, and the public key that verifies their signatures."""

    name: Annotated[Line, NameField("who approves")]
    """The name of the approver. It is published with the releases that they approved."""
    key: Annotated[str, AfterValidator(_key), KeyField("the key of an approver")]
    """The approver's public key: the line between BEGIN and END of their file `KEY.pub`."""

    @property
    def key_id(self) -> str:
        """The id of the public key: the SHA-256 of its DER SubjectPublicKeyInfo, in hexadecimal."""
        return hashlib.sha256(b64decode(self.key)).hexdigest()

    @property
    def pem(self) -> bytes:
        """The public key in PEM form."""
        return f"-----BEGIN PUBLIC KEY-----\n{self.key}\n-----END PUBLIC KEY-----\n".encode()


class ApprovalRule(Strict):
    """The approvals without which a release is not charged, or not published.

    An approval is a signature of the release's id, the digest of the policy's files, and the privacy cost, or, before
    publication, of the manifest. It holds for one release of one ledger.
    """

    by: Annotated[
        list[Approver],
        Field(min_length=1, max_length=MOST_APPROVERS),
        ListField(
            "who may approve releases",
            Direction.LOOSER,
            "one more person may approve",
            "a person may no longer approve",
        ),
    ]
    """The approvers, each with a name and a public key."""
    at_least: Annotated[
        int,
        BeforeValidator(_approvers),
        schema_of("integer", minimum=1, maximum=MOST_APPROVERS),
        ValueField("how many must approve", more_is_tighter, "fewer people must approve", "more people must approve"),
    ] = 1
    """The number of approvers that a release needs."""
    before: Annotated[Literal["charge", "publication"], ValueField("when a release is approved", any_change)] = "charge"
    """The step that waits for the approval. `charge`: nothing is read or charged without it. `publication`: the release
    is made and charged, and its files stay in the destination's private folder until they are approved.
    """
    of: Annotated[
        Literal["each", "first"],
        ValueField(
            "which releases must be approved",
            rising("first", "each"),
            "later releases of a version need no approval",
            "each release needs an approval",
        ),
    ] = "each"
    """The releases that need an approval: `each`, or `first`: each one until a release of these policy files has read
    data, or was published if approvals come before publication.
    """
    over: Annotated[
        Epsilon | None,
        ValueField(
            "the privacy cost up to which no approval is needed",
            more_is_looser,
            "releases of a greater privacy cost need no approval",
            "releases of a smaller privacy cost need an approval",
        ),
    ] = None
    """The epsilon of one release up to which it needs no approval; by default every release needs one."""
    not_requester: Annotated[
        Flag,
        ValueField(
            "whether those who release may approve",
            rising(False, True),
            "the holder of the key that charges a release may approve it",
            "the holder of the key that charges a release may not approve it",
        ),
    ] = True
    """True if the key that charges the release may not approve it."""
    expires: Annotated[
        int,
        BeforeValidator(_days),
        WithJsonSchema({"type": "string", "pattern": "^[0-9]{1,4} days?$"}),
        ValueField(
            "how long an approval lasts", more_is_looser, "approvals last longer", "approvals expire earlier", "days"
        ),
    ] = 30
    """The time for which an approval lasts, such as `30 days`, counted from the day (UTC) on which it was signed."""

    def signers_text(self) -> str:
        """Return who must approve, in words: all of several, one, or so many of them."""
        names = [each.name for each in self.by]
        if self.at_least == len(names):
            return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
        return f"{'one' if self.at_least == 1 else self.at_least} of {', '.join(names)}"

    @model_validator(mode="after")
    def _enough(self) -> "ApprovalRule":
        if len({each.key_id for each in self.by}) != len(self.by):
            raise ValueError("each key once in `by`")
        if self.at_least > len(self.by):
            raise ValueError(f"at_least of at most {len(self.by)}, the number of approvers in `by`")
        return self
