-- Is there anything?
SELECT EXISTS (SELECT FROM halyard.:table)
