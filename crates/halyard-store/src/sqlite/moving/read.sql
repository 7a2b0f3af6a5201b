-- A table whole, in the order in which PostgreSQL's is read too. It is the primary key's, so that
-- nothing is sorted.
SELECT :columns FROM :table ORDER BY :order
