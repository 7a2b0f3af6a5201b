create table invoices (
    id integer generated always as identity primary key,
    subscription_id text not null references subscriptions,
    period text not null, -- a month: 2026-11
    amount integer not null, -- cents
    status text not null check (status in ('open', 'paid'))
);
