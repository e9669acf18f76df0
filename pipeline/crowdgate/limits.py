"""All size limits that a user can meet, each with the reason.

Bounds on a piece of memory or the length of a loop are in the module that uses them.
"""

MOST_PEOPLE = 10**12
"""People of a population: a hundred times all living people. Bounds on singling out stay exact below it."""

MOST_TRIALS = 10**7
"""Trials of an audit: enough to detect an excess of .0004 with probability .9."""

MOST_SERIES = 1000
"""Releases of a series that its first release pays for."""
MOST_RELEASES = 100_000
"""Releases of an audit of inference or membership: each is a whole release."""

MOST_APPROVERS = 50
"""Approvers of a policy: more people than a board has."""

GREATEST_K = 10**9
"""Largest k: a larger class size suppresses every table that exists."""

MOST_CANDIDATES = 100_000
"""Combinations of levels that a release chooses among: each is scored on the whole table."""

MOST_ROWS_EACH = 1000
"""Rows of one person: more leave no useful guarantee for a person."""

MOST_VALUES = 1_000_000
"""Values of a domain: a finer one is no longer a public list and needs a coarser step."""

MOST_SYNTHETIC_ATTRIBUTES = 40
"""Attributes of synthetic rows: 780 pairs, at each combination of their levels."""

MOST_SYNTHETIC_VALUES = 4096
"""Values of an attribute of synthetic rows: with more, noise exceeds the counts; a coarser level is needed."""

MOST_CANDIDATE_CELLS = 1 << 24
"""Cells of all pairs and triples of attributes of synthetic rows, each of which is counted: 128 MiB."""

MOST_CANDIDATE_TABLES = 2000
"""Tables that synthetic rows choose among: for each choice, the model size with each table is computed."""

MOST_MODEL_CELLS = 1 << 20
"""Cells of the model that synthetic rows are drawn from: about a tenth of a second for each of some thousand steps."""

MOST_IMPOSSIBLE = 1000
"""Combinations of values that a policy calls impossible: rows are compared with each."""

MOST_ROUNDS = 500
"""Rounds of a verified release of synthetic rows: after each a model is fitted. Forty attributes have 55 rounds."""

MOST_SYNTHETIC_ROWS = 10**8
"""Rows that a contract of synthetic rows may allow: they are drawn in memory."""

MOST_NUMBERS = 1_000_000
"""Noisy numbers of one release: drawing one takes about ten microseconds."""

MOST_SUBSETS = 100_000
"""Sets of attributes that are searched for minimal uniques: some minutes on a hundred thousand records."""

MOST_GROUPINGS = 100_000
"""Sets of attributes at levels whose anonymity sets are measured: some minutes, and more than anybody reads."""

MOST_CLASSES = 1 << 24
"""Classes of an expectation from public margins: 128 MiB of doubles."""

MOST_MATCHED = 1 << 23
"""Numbers of a public register's distinct records, on the attributes that it shares with a release: a file of 80 MB."""

MOST_PLACED = 10**8
"""People in the probability that anyone is alone in a class: below a second for 5,000 distinct shares."""

MOST_SIZED = 1 << 20
"""Distinct shares of classes in an expectation by class size: about two seconds."""

MOST_JOINT_FIGURES = 1 << 19
"""Numbers of public joint counts that a manifest states: about 10 MB."""

MOST_CLASS_SIZES = 1 << 16
"""Distinct class sizes that a manifest states: so many have at least two billion people."""

MOST_CELLS_FITTED = 1 << 20
"""Classes of a joint table that is fitted to given counts: some seconds."""

MOST_CELLS_COMPARED = 1 << 20
"""Cells of all one- and two-way tables of a comparison, which is computed several times."""

MOST_SECRETS = 100
"""Secrets of an inference audit: evaluating its record takes about 20 seconds."""

MOST_FORECASTS = 5000
"""Combinations of levels that `plan` searches for a recommendation."""

MOST_ANSWERS = 10**12
"""Answers to one question of which only the number is known."""

MOST_SEVERAL = 20
"""Answers to a question with several choices: a million combinations."""

MOST_STATED = 10_000
"""Numbers of a histogram in a questionnaire."""

MOST_DISTINCT = 10_000
"""Distinct probabilities of classes if attributes are taken as independent: more are grouped."""

MOST_POINTS = 500
"""Points of a published curve: more than anybody reads from one. Their exact intervals take ten seconds."""

MOST_SKEW = 10**9
"""Non-members for each member: ten people among all living people."""

DENSE_CELLS = 1 << 24
"""Cells of a view with a counter for each (128 MiB); for larger views only occurring tuples are counted."""

LONGEST_LINE = 64 << 20
"""Bytes of a line of CSV: a longer one counts as ragged."""

LONGEST_CELL = 1 << 16
"""Bytes of a text cell, or of a public value: a longer cell is invalid."""

LONGEST_ID = 1 << 10
"""Bytes of a text that identifies a person: a longer one identifies nobody."""

LARGEST_FOOTER = 1 << 26
"""Bytes of a Parquet file's footer: 500 columns and 1,000 row groups have 48 MiB, read in about two seconds."""

MOST_CHUNKS = 1 << 20
"""Columns of all row groups of a Parquet file together: Arrow makes an object of about 1 KB of each."""

MOST_COLUMNS = 1 << 16
"""Columns of a Parquet file."""

LARGEST_PAGE = 1 << 27
"""Bytes of a page of a Parquet file, decompressed. Writers end a page at 1 MiB, some at 100 MB."""

LARGEST_PAGES = 1 << 29
"""Bytes of the pages of a Parquet file in memory at once: for each column read, a dictionary and a page."""

MOST_PAGE_VALUES = 1 << 20
"""Values of a dictionary of a Parquet file; writers end it at 1 MiB."""

LONGEST_HEADER = 1 << 20
"""Bytes of a header of CSV."""

LARGEST_DOCUMENT = 1 << 20
"""Bytes of a policy, contract or budget."""

MOST_NODES = 50_000
"""Values and keys of a policy, contract or budget: a thousand columns of fifty. They are read in about two seconds."""

DEEPEST_DOCUMENT = 30
"""Levels of nesting in a policy, contract or budget."""

LARGEST_MANIFEST = 32 << 20
"""Bytes of a manifest."""

MOST_NAMES = 500_000
"""Names of fields in a manifest: each wrong one costs about ten microseconds and a kilobyte."""

MOST_MEASURED_AGAIN = 1 << 27
"""Classes, over all gates of a release, whose expectation is recomputed from public margins: about 15 seconds."""

LARGEST_LISTING = 256 << 20
"""Bytes of a file of a release that is read whole: dictionary, levels, README."""

MOST_RELEASED = 1 << 31
"""Rows of a release that is verified."""

MOST_FILES = 50_000
"""Files of a release, each of which a signature names."""

MOST_TABLES = 10_000
"""Tables of a release: in two formats, with raw ones beside them, they stay below the number of files."""

LARGEST_PRIVATE_RECORD = 256 << 20
"""Bytes of a private record or of the record of an audit: anonymity sets of many attributes are the largest."""

LARGEST_POSITION = 64 << 20
"""Bytes of a ledger's attested position: some 160,000 charges. A larger ledger is followed from its first line."""

MOST_STORED_FIGURES = 96
"""Files of figures that `plan` stores: three for each state of a policy."""

MOST_STORED_BYTES = 8 << 20
"""Bytes of all these files together."""

LARGEST_STORED_FIGURES = 1 << 20
"""Bytes of one of these files."""

LARGEST_KEY_FILE = 1 << 16
"""Bytes of a file of keys."""

LARGEST_OBJECTS = 16 << 30
"""Bytes of all files of a release that is read from an object store: they are copied to this machine."""

MOST_OBJECTS = 1_000_000
"""Objects of a destination in an object store that are listed."""

LARGEST_ENVELOPE = 16 << 20
"""Bytes of a signed envelope: a catalogue of some 50,000 releases."""

MOST_SIGNATURES = 16
"""Signatures in an envelope: a key and its successors."""

MOST_SUBJECTS = 50_000
"""Files of a signed release, or releases of a destination."""

LARGEST_ENTRY = 1 << 18
"""Bytes of a signed entry of a KL repository."""

MOST_ENTRIES = 50_000
"""Entries of a KL repository."""

MOST_BINS = 10**18
"""Bins of an entry of a KL repository: ten million times all people who ever lived."""

LEAST_POPULATION = 1000
"""Least number of people of a population whose confidential figures a KL repository may hold, by the lower confidence
limit of a noisy count: with few people a figure about their attributes reveals the people (Koot 2012, 7.2.1)."""

MOST_WORKERS = 256
"""Processes that count one table."""
LARGEST_WORKBOOK = 1 << 30
"""Bytes of an Excel workbook, decompressed: a full sheet of some 60 columns."""

MOST_DESCRIBED_VALUES = 1000
"""Values of a column that descriptions for other tools list; dictionary.csv lists all."""
