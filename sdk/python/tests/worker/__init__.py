"""The pure parts of the worker: its board, its verdicts."""
