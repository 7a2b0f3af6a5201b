SELECT queue, task, state, jobs FROM counters
