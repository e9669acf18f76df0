"""The process that `tests.benchmarks.journal --of charge` measures: a release is charged, and given back. Like a
command, it looks for no cycles at its end."""

import atexit
import gc
import sys
from pathlib import Path

from crowdgate.ledger.ledger import open_ledger
from crowdgate.settings import signing_key, trusted_keys
from tests.ledger.books import asked

if __name__ == "__main__":
    atexit.register(gc.freeze)
    root, slot = Path(sys.argv[1]), sys.argv[2]
    url = f"sqlite:///{root}/ledger/ledger.db"
    ledger = open_ledger(url, None, signer=signing_key(root), trusted=trusted_keys(root))
    ledger.void(ledger.reserve(asked(f"own/1/{slot}")).release_id)
