-- At once a writer: a read that turns into a write later could be refused.
BEGIN IMMEDIATE
