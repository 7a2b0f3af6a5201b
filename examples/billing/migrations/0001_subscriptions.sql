create table subscriptions (
    id text primary key,
    customer_id text not null, -- the payment provider's
    price integer not null check (price > 0) -- cents a month
);
