-- What the mailer takes its letters from. One row for each invoice is the flag "sent".
create table statements (
    invoice_id integer primary key references invoices,
    customer_id text not null
);
