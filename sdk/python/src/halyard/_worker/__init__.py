"""The worker: claims jobs, runs their handlers, keeps their leases, reports what came of them.

| file | |
|---|---|
| `worker` | `Worker` and `AsyncWorker`: tasks, start, stop, run |
| `lifecycle` | who may start, stop and run a worker, and when |
| `plan` | the settings of a worker, checked |
| `handler` | what can be a handler, and how it is called |
| `fit` | payloads read into the type that a handler names |
| `verdict` | from what a handler did to what is reported; which errors are retried |
| `board` | what the worker knows and does next: a state machine without any input or output |
| `desk` | does what the board says: threads for claims, reports, heartbeats and time |
| `wire` | the worker's requests and answers |
| `pool` | the threads of plain handlers |
| `loop` | the event loop of coroutine handlers |
| `hooks` | what the program is told |
| `signals` | SIGTERM and SIGINT |

Threads of one worker: one each for claims, reports, heartbeats (with connections of their own) and
time, one for each plain handler at work, one for the event loop of coroutine handlers if there are
any. None is made for a job. All are daemons: a handler that never ends does not keep the process.

Deliberately absent: a way to end a plain handler that does not look at its signal. Python has none.
"""
