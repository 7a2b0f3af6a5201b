-- The payment provider's id of the charge that paid the invoice.
alter table invoices add column charge_id text;
