-- One server extends the leases after an outage; the others wait here and find it done.
SELECT at FROM halyard.stamp FOR UPDATE
