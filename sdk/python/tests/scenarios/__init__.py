"""What every SDK must do (`sdk/scenarios/scenarios.json`), done by this one.

A test of each scenario is called by its name; `registry` keeps the list, and `test_all` holds it
against the file. Scenarios of clients run with `Halyard` and with `AsyncHalyard`, those of workers
with plain and with coroutine handlers, as far as these are different ways through the code.

| file | |
|---|---|
| `test_creating` `test_operating` `test_faults` | scenarios of producers and operators |
| `test_running` `test_failing` `test_checkpointing` | scenarios of handlers |
| `test_leasing` `test_stopping` | scenarios of workers and their processes |
| `clients` `work` `proxy` `script` `process` `roles` | what they stand on |
"""
