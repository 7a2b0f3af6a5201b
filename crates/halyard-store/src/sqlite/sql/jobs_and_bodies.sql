-- Jobs with their bodies, in the order of the list. One statement reads all that a claim takes:
-- to start one costs as much as to read a row. A job without its body is an error, and is not
-- passed over: so the joins are left ones.
SELECT jobs.*, bodies.* FROM rarray(?1) AS wanted
LEFT JOIN jobs ON jobs.seq = wanted.value LEFT JOIN bodies ON bodies.seq = jobs.seq
