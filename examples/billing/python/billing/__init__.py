"""The guide's program: it charges subscriptions once, and closes months.

`examples/billing/README.md` says which file is what, and how to run it.
"""
