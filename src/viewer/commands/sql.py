"""Answers a query about a table of facts: the column names as one JSON line, then one line per row."""

import json
import sys

try:
    import duckdb
except ImportError:
    sys.exit(4)

database = duckdb.connect(":memory:")
database.execute("CREATE TABLE rollouts AS SELECT * FROM read_parquet(?)", [sys.argv[1]])
# From here on no statement reaches a file, the network or an extension.
database.execute("SET enable_external_access = false")
database.execute("SET lock_configuration = true")
try:
    answer = database.execute(sys.stdin.read())
    print(json.dumps([column[0] for column in answer.description or []]))
    while rows := answer.fetchmany(1000):
        for row in rows:
            print(json.dumps(row, default=str))
except duckdb.Error as error:
    sys.exit(f"{error}")
