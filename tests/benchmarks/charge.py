"""The process that `tests.benchmarks.journal --of charge` runs: it charges a release, gives it back, and prints the CPU
seconds of both."""

import sys
import time
from pathlib import Path

from crowdgate.ledger.ledger import open_ledger
from crowdgate.settings import signing_key, trusted_keys
from tests.ledger.books import asked

if __name__ == "__main__":
    root, slot, start = Path(sys.argv[1]), sys.argv[2], time.process_time()
    url = f"sqlite:///{root}/ledger/ledger.db"
    ledger = open_ledger(url, None, signer=signing_key(root), trusted=trusted_keys(root))
    ledger.void(ledger.reserve(asked(f"own/1/{slot}")).release_id)
    print(time.process_time() - start)
