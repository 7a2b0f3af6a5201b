-- What is 0 counts as not there.
SELECT :columns FROM counters WHERE jobs <> 0 ORDER BY :order
