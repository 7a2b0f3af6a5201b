-- How many numbers up to this one are of no job that was made.
SELECT ?1 - created FROM totals
