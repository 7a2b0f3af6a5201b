"""The version of this package, kept equal to that of the server by a test."""

#: As in `halyard --version`.
VERSION = "0.1.0"
