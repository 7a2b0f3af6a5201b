SELECT worker, count(*) FROM halyard.jobs WHERE state = 2 GROUP BY worker ORDER BY worker
