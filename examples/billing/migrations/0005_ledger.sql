-- One posting for each invoice, however often the step that posts it runs.
create table ledger (
    invoice_id integer primary key references invoices,
    amount integer not null -- cents
);
