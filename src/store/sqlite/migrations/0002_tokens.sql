-- Who may ask over HTTP. Of a token only its hash is here: the token itself was shown once, when it was made.
CREATE TABLE tokens (
    n       INTEGER PRIMARY KEY AUTOINCREMENT,  -- is never given again
    hash    BLOB    NOT NULL UNIQUE,            -- SHA-256
    name    TEXT    NOT NULL,
    scope   INTEGER NOT NULL,                   -- 1 read, 2 operate, 3 admin
    made_ms INTEGER NOT NULL,
    ends_ms INTEGER NOT NULL                    -- from then on it is worth nothing; 2^63 - 1: never
) STRICT;
