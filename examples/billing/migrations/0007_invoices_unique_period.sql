alter table invoices
    add constraint invoices_subscription_period_key unique (subscription_id, period);
