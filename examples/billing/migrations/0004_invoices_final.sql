-- Closing a month makes its invoices final.
alter table invoices add column final boolean not null default false;
