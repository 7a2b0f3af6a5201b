"""The processed store, on every store that there is."""
