"""`TestHalyard` answers as the server does, where it answers at all."""
