-- What this run found unknown when it took over is no better known for its end: such a record
-- stays, and is over. One row when the record was its own.
with left_unknown as (
    update halyard_processed set in_progress_until = clock_timestamp()
    where key = $1 and owner = $2 and state = 'in_progress' and unknown
    returning key
), removed as (
    delete from halyard_processed
    where key = $1 and owner = $2 and state = 'in_progress' and not unknown
    returning key
)
select key from left_unknown union all select key from removed
