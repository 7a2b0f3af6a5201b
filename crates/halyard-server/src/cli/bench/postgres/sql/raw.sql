-- Each raw statement does one thing in one plan that is right for it, with statistics and without.
SET enable_seqscan = off;
SET enable_hashjoin = off;
SET enable_mergejoin = off;
SET jit = off
