-- What the company of the story keeps: a database of its own, which Halyard never sees.

CREATE TABLE IF NOT EXISTS subscriptions (
    id          TEXT PRIMARY KEY,
    customer_id TEXT NOT NULL,
    price       INTEGER NOT NULL -- cents a month
) STRICT;

CREATE TABLE IF NOT EXISTS invoices (
    id              INTEGER PRIMARY KEY,
    subscription_id TEXT NOT NULL,
    period          TEXT NOT NULL,
    amount          INTEGER NOT NULL, -- cents
    status          TEXT NOT NULL,    -- open or paid
    charge_id       TEXT,             -- the provider's, once paid
    final           INTEGER NOT NULL DEFAULT 0,
    -- The guide's second layer: a second run finds the invoice of the first.
    CONSTRAINT invoices_subscription_period_key UNIQUE (subscription_id, period)
) STRICT;

-- One posting and one statement for each invoice, however often their step runs.
CREATE TABLE IF NOT EXISTS ledger (
    invoice_id INTEGER PRIMARY KEY,
    amount     INTEGER NOT NULL
) STRICT;

CREATE TABLE IF NOT EXISTS statements (
    invoice_id INTEGER PRIMARY KEY
) STRICT;

-- How often each step of closing a month ran: evidence for the count at the end.
CREATE TABLE IF NOT EXISTS steps (
    period TEXT NOT NULL,
    step   TEXT NOT NULL,
    runs   INTEGER NOT NULL,
    PRIMARY KEY (period, step)
) STRICT;
