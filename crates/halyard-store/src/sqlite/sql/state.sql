-- How a job stands, without what it carries.
SELECT state, life FROM jobs WHERE id = ?1
