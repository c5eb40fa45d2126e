-- Days are counted from 1970-01-01, instants in milliseconds; NULL stands for none.

CREATE TABLE users (
    n             INTEGER PRIMARY KEY,  -- numbers a registration, and is never given again
    id            TEXT    NOT NULL UNIQUE,
    due           INTEGER NOT NULL,     -- minute of the day
    starts_on     INTEGER NOT NULL,
    last_day      INTEGER,
    status        INTEGER NOT NULL,     -- of last_day: 1 success, 2 cutoff_reached; 0 none
    last_run_ms   INTEGER,
    context_epoch INTEGER NOT NULL,
    recorded      INTEGER               -- the last day with a ledger row, finalized or missed
) STRICT;

-- One row for a user and a day. By day first: what is written together stands together.
CREATE TABLE ledger (
    day      INTEGER NOT NULL,
    n        INTEGER NOT NULL,
    status   INTEGER NOT NULL,          -- 1 success, 2 cutoff_reached, 3 missed
    at_ms    INTEGER NOT NULL,
    attempts INTEGER NOT NULL,
    cls      INTEGER NOT NULL,          -- of the last error: 1 req, 2 llm, 3 parse, 4 unknown; 0 none
    PRIMARY KEY (day, n)
) STRICT, WITHOUT ROWID;

-- What was ever written for a day; it stays when rows of the ledger are forgotten.
CREATE TABLE day_totals (
    day     INTEGER PRIMARY KEY,
    success INTEGER NOT NULL,
    cutoff  INTEGER NOT NULL,
    missed  INTEGER NOT NULL
) STRICT;

-- The outbox of cutoff hooks.
CREATE TABLE hooks (
    n             INTEGER PRIMARY KEY,  -- never given again
    user          INTEGER NOT NULL,     -- users.n
    day           INTEGER NOT NULL,
    due           INTEGER NOT NULL,
    context_epoch INTEGER NOT NULL,
    attempts      INTEGER NOT NULL,
    next_ms       INTEGER NOT NULL,     -- not before
    UNIQUE (user, day)
) STRICT;
CREATE INDEX hooks_by_next ON hooks (next_ms);

CREATE TABLE counters (
    name  TEXT    PRIMARY KEY,
    value INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO counters (name, value) VALUES ('next_user', 1), ('next_hook', 1), ('users', 0);
