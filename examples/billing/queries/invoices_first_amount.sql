-- The upsert for prices that change: the invoice keeps the amount of the first attempt, so every
-- attempt sends the same charge under the job's key.
insert into invoices (subscription_id, period, amount, status)
values ($1, $2, $3, 'open')
on conflict (subscription_id, period) do update set amount = invoices.amount
returning *;
