SELECT jobs.*, bodies.* FROM jobs JOIN bodies ON bodies.seq = jobs.seq WHERE jobs.seq = ?1
