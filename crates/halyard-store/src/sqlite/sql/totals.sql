SELECT * FROM totals
