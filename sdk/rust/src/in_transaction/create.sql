-- The job comes as one text, the body of `POST /v1/jobs`, and is taken apart here: a payload keeps
-- every digit. The answer is one text too, so a library of any kind can ask.
select row_to_json(made)::text
from (select $1::json as job) as sent, lateral halyard.create_job(
    job ->> 'task', job -> 'payload',
    (select json_object_agg(key, value) from json_each(job) where key not in ('task', 'payload'))
) as made
