-- Every place from one on: the walk of the table.
SELECT seq, state, queue, task, created_at FROM halyard.jobs WHERE :near ORDER BY seq :order
