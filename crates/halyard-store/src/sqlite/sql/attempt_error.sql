SELECT error_type, error_kind, error_message, error_stack
FROM attempts WHERE seq = ?1 AND number = ?2
