-- A table whole, in the order in which SQLite's is read too: texts are compared by their bytes.
SELECT :columns FROM halyard.:table ORDER BY :order
