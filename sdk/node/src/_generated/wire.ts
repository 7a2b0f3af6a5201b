/**
 * The shapes of requests and answers, as they cross the wire.
 *
 * Made from openapi.json by openapi-typescript: npm run generate. Do not edit.
 */

export type paths = Record<string, never>;
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        /** @description A key, without its text. */
        ApiKey: {
            /** @description When it was made. */
            created_at: components["schemas"]["Timestamp"];
            /** @description Its id, `key_` and 26 characters. */
            id: string;
            last_used_at: components["schemas"]["Timestamp"] | null;
            /** @description What it is called. */
            name: string;
            /** @description What it may do. */
            role: components["schemas"]["Role"];
        };
        /** @description Every key, in the order of their making. */
        ApiKeysAnswer: {
            /** @description The keys. */
            data: components["schemas"]["ApiKey"][];
        };
        /** @description One start of a job: one claim. */
        Attempt: {
            /**
             * Format: int64
             * @description Its number among the counted starts of its life.
             */
            attempt: number;
            error: components["schemas"]["ErrorReport"] | null;
            finished_at: components["schemas"]["Timestamp"] | null;
            /** @description `att_` and 26 characters. */
            id: string;
            /**
             * Format: int64
             * @description The life it belongs to.
             */
            life: number;
            queued_at: components["schemas"]["Timestamp"] | null;
            /**
             * Format: int64
             * @description How long the job was then told to wait, in milliseconds.
             */
            retry_delay_ms: number | null;
            retry_reason: components["schemas"]["RetryReason"] | null;
            /**
             * Format: int64
             * @description Its number among all starts of the job.
             */
            start: number;
            /** @description When it was claimed. */
            started_at: components["schemas"]["Timestamp"];
            /** @description How it stands or ended. */
            state: components["schemas"]["AttemptState"];
            /** @description The id of the worker that claimed it. */
            worker: string;
        };
        /**
         * @description How a start (one claim of a job) stands or ended.
         * @enum {string}
         */
        AttemptState: "running" | "completed" | "failed" | "timed_out" | "lost" | "released" | "snoozed" | "cancelled";
        /**
         * @description What an operator did.
         * @enum {string}
         */
        AuditAction: "retry" | "cancel" | "run_now" | "run_as_new" | "delete" | "forget_key" | "pause" | "resume" | "create_key" | "revoke_key" | "sign_in";
        /** @description A page of the audit log. */
        AuditAnswer: {
            /** @description The lines of this page. */
            data: components["schemas"]["AuditEntry"][];
            /** @description The cursor of the next page; `null` on the last. */
            next_cursor: string | null;
        };
        /** @description One line: who did what, when, to how many. */
        AuditEntry: {
            /** @description What. */
            action: components["schemas"]["AuditAction"];
            /** @description Who: the name of the key. */
            actor: string;
            /** @description When. */
            at: components["schemas"]["Timestamp"];
            /**
             * Format: int64
             * @description To how many.
             */
            count: number;
            /** @description To which jobs. */
            job_ids: string[];
            /** @description The id of the key; `null` for the configured one, and where none was asked for. */
            key_id: string | null;
            /** @description The id of the request. */
            request_id: string;
            /**
             * @description To what, if not to jobs: a queue, a key; for `run_as_new` the job that was the pattern, for
             *     a bulk action the filter by which its jobs were chosen.
             */
            target: string | null;
        };
        /**
         * @description How long a job waits before attempt n + 1: `min(initial_ms * factor^(n-1), max_ms)`, spread by
         *     `jitter` to both sides.
         */
        Backoff: {
            /**
             * Format: double
             * @description What each further failure multiplies it by.
             */
            factor: number;
            /**
             * Format: int64
             * @description The wait after the first failure, in milliseconds.
             */
            initial_ms: number;
            /**
             * Format: double
             * @description The part of the wait, 0 to 1, by which chance moves it.
             */
            jitter: number;
            /**
             * Format: int64
             * @description The longest wait, in milliseconds.
             */
            max_ms: number;
        };
        /** @description A result for each job of the batch, in the order of the request. */
        BatchAnswer: {
            /** @description The results. */
            results: components["schemas"]["BatchResult"][];
        };
        /** @description What one create of a batch came to: `job` or `error`, the other is absent. */
        BatchResult: {
            /** @description Why it was refused. */
            error?: components["schemas"]["Problem"];
            /** @description The job that was made or found. */
            job?: components["schemas"]["CreatedJob"];
            /**
             * Format: int32
             * @description 201 made, 200 found; 404, 409 or 422 refused.
             */
            status: number;
        };
        /** @description What to do, and to which jobs. */
        Bulk: {
            /** @description What to do. */
            action: components["schemas"]["BulkAction"];
            /**
             * @description By which filter the jobs were chosen, in words of your own: for the audit log, which shows
             *     it as `target`. Nothing is chosen by it here.
             */
            filter?: string | null;
            /** @description The jobs, up to 1,000. */
            ids: string[];
            /** @description For a retry: the life of each job that the caller saw, by id. */
            lives?: {
                [key: string]: number;
            } | null;
        };
        /**
         * @description What a bulk call does to each job.
         * @enum {string}
         */
        BulkAction: "retry" | "cancel" | "delete" | "run_now";
        /** @description A result for each id, in the order of the request. */
        BulkAnswer: {
            /** @description The results. */
            results: components["schemas"]["BulkResult"][];
        };
        /** @description What the action came to for one job: `job` (200), `error` (404, 409) or neither (204). */
        BulkResult: {
            /** @description Why it was refused. */
            error?: components["schemas"]["Problem"];
            /** @description The id as it was given. */
            id: string;
            /** @description The job after the action. */
            job?: components["schemas"]["Job"];
            /**
             * Format: int32
             * @description 200 done, 204 deleted; 404 or 409 refused.
             */
            status: number;
        };
        /** @description A marker that a handler left, with the value it stored under that name. */
        Checkpoint: {
            /**
             * Format: int64
             * @description The attempt it was written in.
             */
            attempt: number;
            /** @description When it was written. */
            created_at: components["schemas"]["Timestamp"];
            /**
             * Format: int64
             * @description The life it was written in.
             */
            life: number;
            /** @description Its name, 1 to 128 code points. */
            name: string;
            /**
             * Format: int64
             * @description The start it was written in.
             */
            start: number;
            /** @description The value, the worker's bytes; `null` for a mere marker. */
            value: unknown;
        };
        /** @description The checkpoint as it stands, new (201) or equal to what was sent (200). */
        CheckpointAnswer: {
            /**
             * Format: int64
             * @description The attempt it was written in.
             */
            attempt: number;
            /** @description Whether the job was asked to stop. */
            cancel_requested: boolean;
            /** @description When it was written. */
            created_at: components["schemas"]["Timestamp"];
            /**
             * Format: int64
             * @description The life it was written in.
             */
            life: number;
            /** @description Its name. */
            name: string;
            /**
             * Format: int64
             * @description The start it was written in.
             */
            start: number;
            /** @description Its value, the bytes that were written first. */
            value: unknown;
        };
        /** @description Who claims, and what. */
        Claim: {
            /** @description A name for this claim, so that it can be repeated; up to 128 code points. */
            claim_id?: string | null;
            /**
             * Format: int64
             * @description How long a lease lasts without a heartbeat, in milliseconds; 60000 when left out.
             */
            lease_ms?: number | null;
            /**
             * Format: int64
             * @description How many jobs at most, 1 to 1,000; 1 when left out.
             */
            max?: number | null;
            /** @description The queues to claim from, as one list; at least one. */
            queues: string[];
            /** @description Whether this is a claim sent again because its answer was lost; needs `claim_id`. */
            repeat?: boolean | null;
            /** @description The tasks to claim, at least one; all when left out. */
            tasks?: string[] | null;
            /**
             * Format: int64
             * @description How long to wait for a job, in milliseconds; 0 when left out, more than 55000 is cut.
             */
            wait_ms?: number | null;
            /** @description Who claims. */
            worker: components["schemas"]["WorkerIdentity"];
        };
        /** @description The jobs that were claimed; none when the wait was over first. */
        ClaimAnswer: {
            /** @description The jobs, in the order to run them. */
            jobs: components["schemas"]["ClaimedJob"][];
        };
        /** @description A job that the worker holds now: without `result`, `attempts` and `attempts_total`. */
        ClaimedJob: {
            /**
             * Format: int64
             * @description The counted starts of this life, the current one included; 0 before the first.
             */
            attempt: number;
            /** @description How long it waits between attempts. */
            backoff: components["schemas"]["Backoff"];
            /** @description Whether a running job was asked to stop. */
            cancel_requested: boolean;
            /** @description Every checkpoint so far, in the order first written. */
            checkpoints: components["schemas"]["Checkpoint"][];
            /**
             * Format: int64
             * @description Starts in a row whose lease ran out without a report.
             */
            crashes: number;
            /** @description When it was created. */
            created_at: components["schemas"]["Timestamp"];
            error: components["schemas"]["ErrorReport"] | null;
            finished_at: components["schemas"]["Timestamp"] | null;
            /** @description `job_` and 26 characters; opaque to clients. */
            id: string;
            idempotency_expires_at: components["schemas"]["Timestamp"] | null;
            /** @description The key it was created under; `null` without one, or when it was freed. */
            idempotency_key: string | null;
            /** @description What the worker holds it by. */
            lease: components["schemas"]["Lease"];
            /**
             * Format: int64
             * @description The life it is in, from 1; a retry by hand opens the next.
             */
            life: number;
            /**
             * Format: int64
             * @description Attempts a life may use, 1 to 100.
             */
            max_attempts: number;
            /**
             * Format: int64
             * @description Crashes in a row that fail the job, 1 to 100.
             */
            max_crashes: number;
            /** @description The payload, the sender's bytes. */
            payload: unknown;
            /**
             * Format: int64
             * @description −100 to 100, higher first.
             */
            priority: number;
            /** @description The queue it waits in. */
            queue: string;
            /**
             * Format: int64
             * @description Worker calls rejected because they carried a stale token.
             */
            rejected: number;
            /** @description The id of the job that took its key over. */
            replaced_by: string | null;
            /**
             * Format: int64
             * @description Creates answered with this job instead of a new one.
             */
            replays: number;
            /** @description The id of the job of which this is a new run. */
            rerun_of: string | null;
            /** @description When it is or was due; of a retrying or snoozed job, when it is next due. */
            run_at: components["schemas"]["Timestamp"];
            started_at: components["schemas"]["Timestamp"] | null;
            /**
             * Format: int64
             * @description All starts of all lives; it never falls.
             */
            starts: number;
            /** @description Where it stands. */
            state: components["schemas"]["State"];
            /** @description The names it was tagged with. */
            tags: string[];
            /** @description The name of the task, which decides the handler. */
            task: string;
            /**
             * Format: int64
             * @description How long one start may take, in milliseconds.
             */
            timeout_ms: number;
            /** @description W3C trace context of the create, given to the worker. */
            traceparent: string | null;
        };
        /**
         * @description What is wrong with a call, from a closed list. A code never changes its meaning.
         * @enum {string}
         */
        Code: "malformed_json" | "unknown_field" | "invalid_field" | "missing_field" | "cursor_mismatch" | "unauthenticated" | "forbidden" | "read_only" | "job_not_found" | "queue_not_found" | "not_found" | "method_not_allowed" | "lease_lost" | "checkpoint_conflict" | "job_running" | "job_not_retryable" | "job_finished" | "idempotency_key_taken" | "id_taken" | "payload_too_large" | "unsupported_media_type" | "unknown_host" | "idempotency_key_reused" | "overloaded" | "draining" | "storage_unavailable";
        /** @description A number of jobs in each state. */
        Counts: {
            /**
             * Format: int64
             * @description Jobs that were cancelled.
             */
            cancelled: number;
            /**
             * Format: int64
             * @description Jobs that ended well.
             */
            completed: number;
            /**
             * Format: int64
             * @description Jobs that ended badly.
             */
            failed: number;
            /**
             * Format: int64
             * @description Jobs that wait for a worker.
             */
            queued: number;
            /**
             * Format: int64
             * @description Jobs that wait for their next attempt.
             */
            retrying: number;
            /**
             * Format: int64
             * @description Jobs that a worker holds.
             */
            running: number;
            /**
             * Format: int64
             * @description Jobs that wait for their time.
             */
            scheduled: number;
        };
        /** @description A key to make. */
        CreateApiKey: {
            /** @description What it is called in lists and in the audit log, 1 to 128 code points. */
            name: string;
            /** @description What it may do. */
            role: components["schemas"]["Role"];
        };
        /**
         * @description The wait before attempt n + 1 is `min(initial_ms * factor^(n-1), max_ms)`, spread by `jitter`.
         *     What is left out has its default.
         */
        CreateBackoff: {
            /**
             * Format: double
             * @description What each further failure multiplies it by; 2 when left out.
             */
            factor?: number | null;
            /**
             * Format: int64
             * @description The wait after the first failure, in milliseconds; 5000 when left out.
             */
            initial_ms?: number | null;
            /**
             * Format: double
             * @description The part of the wait by which chance moves it; 0.2 when left out.
             */
            jitter?: number | null;
            /**
             * Format: int64
             * @description The longest wait, in milliseconds; 3600000 when left out.
             */
            max_ms?: number | null;
        };
        /** @description The jobs to create. */
        CreateBatch: {
            /** @description Up to 1,000 jobs. */
            jobs: components["schemas"]["CreateJob"][];
        };
        /** @description A key that was made. Its text is shown this once. */
        CreatedApiKey: {
            /** @description When it was made. */
            created_at: components["schemas"]["Timestamp"];
            /** @description Its id, `key_` and 26 characters. */
            id: string;
            /** @description Its text, for the header `Authorization: Bearer …`. */
            key: string;
            /** @description What it is called. */
            name: string;
            /** @description What it may do. */
            role: components["schemas"]["Role"];
        };
        /** @description The job that a create made or found, and which of the two it was. */
        CreatedJob: {
            /**
             * Format: int64
             * @description The counted starts of this life, the current one included; 0 before the first.
             */
            attempt: number;
            /** @description How long it waits between attempts. */
            backoff: components["schemas"]["Backoff"];
            /** @description Whether a running job was asked to stop. */
            cancel_requested: boolean;
            /**
             * Format: int64
             * @description Starts in a row whose lease ran out without a report.
             */
            crashes: number;
            /** @description When it was created. */
            created_at: components["schemas"]["Timestamp"];
            error: components["schemas"]["ErrorReport"] | null;
            finished_at: components["schemas"]["Timestamp"] | null;
            /** @description `job_` and 26 characters; opaque to clients. */
            id: string;
            idempotency_expires_at: components["schemas"]["Timestamp"] | null;
            /** @description The key it was created under; `null` without one, or when it was freed. */
            idempotency_key: string | null;
            /**
             * Format: int64
             * @description The life it is in, from 1; a retry by hand opens the next.
             */
            life: number;
            /**
             * Format: int64
             * @description Attempts a life may use, 1 to 100.
             */
            max_attempts: number;
            /**
             * Format: int64
             * @description Crashes in a row that fail the job, 1 to 100.
             */
            max_crashes: number;
            /** @description The payload, the sender's bytes; `null` once the job is purged. */
            payload: unknown;
            /**
             * Format: int64
             * @description −100 to 100, higher first.
             */
            priority: number;
            /**
             * @description `true` when the job's row is gone and only its key answers: `payload`, `result` and
             *     `error` are `null` then; otherwise absent.
             */
            purged?: boolean;
            /** @description The queue it waits in. */
            queue: string;
            /**
             * Format: int64
             * @description Worker calls rejected because they carried a stale token.
             */
            rejected: number;
            /** @description The id of the job that took its key over. */
            replaced_by: string | null;
            /** @description Whether the job was there already. */
            replayed: boolean;
            /**
             * Format: int64
             * @description Creates answered with this job instead of a new one.
             */
            replays: number;
            /** @description The id of the job of which this is a new run. */
            rerun_of: string | null;
            /** @description What the handler returned, the worker's bytes; `null` until completed. */
            result: unknown;
            /** @description `true` when the job had failed and this create opened a new life; otherwise absent. */
            revived?: boolean;
            /** @description When it is or was due; of a retrying or snoozed job, when it is next due. */
            run_at: components["schemas"]["Timestamp"];
            started_at: components["schemas"]["Timestamp"] | null;
            /**
             * Format: int64
             * @description All starts of all lives; it never falls.
             */
            starts: number;
            /** @description Where it stands. */
            state: components["schemas"]["State"];
            /** @description The names it was tagged with. */
            tags: string[];
            /** @description The name of the task, which decides the handler. */
            task: string;
            /**
             * Format: int64
             * @description How long one start may take, in milliseconds.
             */
            timeout_ms: number;
            /** @description W3C trace context of the create, given to the worker. */
            traceparent: string | null;
        };
        /** @description The job to create. Everything but `task` may be left out. */
        CreateJob: {
            backoff?: components["schemas"]["CreateBackoff"] | null;
            /**
             * Format: int64
             * @description In how many milliseconds it is due. Not with `run_at`.
             */
            delay_ms?: number | null;
            /**
             * @description An id made by the client, `job_` and a UUIDv7 as 26 characters: the same id again with the
             *     same task and payload is a replay. With a free key beside it only if the job was made with
             *     that key; otherwise the answer is `id_taken`.
             */
            id?: string | null;
            /** @description One (task, key) is one job, for as long as the key lives; 1 to 255 code points. */
            idempotency_key?: string | null;
            /**
             * Format: int64
             * @description How long the key lives after the job finished, in milliseconds: 1 minute to 400 days, the
             *     server's setting (30 days) when left out.
             */
            idempotency_ttl_ms?: number | null;
            if_failed?: components["schemas"]["IfFailed"] | null;
            /**
             * Format: int64
             * @description Attempts a life may use; 20 when left out.
             */
            max_attempts?: number | null;
            /**
             * Format: int64
             * @description Crashes in a row that fail the job; 5 when left out.
             */
            max_crashes?: number | null;
            /** @description Any JSON, up to 1 MiB and 64 levels; `null` when left out. */
            payload?: unknown;
            /**
             * Format: int64
             * @description −100 to 100, higher first; 0 when left out.
             */
            priority?: number | null;
            /** @description The queue; `default` when left out. */
            queue?: string | null;
            run_at?: components["schemas"]["Timestamp"] | null;
            /** @description Up to 10 names to find it by. */
            tags?: string[] | null;
            /** @description The name of the task, which decides the handler. */
            task: string;
            /**
             * Format: int64
             * @description How long one start may take, in milliseconds; 900000 when left out.
             */
            timeout_ms?: number | null;
            /** @description W3C trace context, stored and given to the worker. */
            traceparent?: string | null;
        };
        /**
         * @description What kind of failure an error report tells of.
         * @enum {string}
         */
        ErrorKind: "error" | "timeout" | "lost" | "non_retryable";
        /** @description What went wrong in an attempt. The texts are cut to 8 KiB (`message`) and 32 KiB (`stack`). */
        ErrorReport: {
            /** @description What kind of failure it is. */
            kind: components["schemas"]["ErrorKind"];
            /** @description What it says. */
            message: string;
            /** @description Where it happened, as the worker's language prints it. */
            stack: string | null;
            /** @description The class or name of the error. */
            type: string;
        };
        /** @description What went wrong, in the words of the worker's language. The server cuts and cleans it. */
        FailureText: {
            /** @description What it says. */
            message?: string | null;
            /** @description Where it happened. */
            stack?: string | null;
            /** @description The class or name of the error. */
            type?: string | null;
        };
        /** @description One thing that is wrong with a request. */
        FieldError: {
            /** @description Which of the codes of status 400, or `payload_too_large`. */
            code: components["schemas"]["Code"];
            /** @description The field, its value (cut to about 80 characters) and the rule that it breaks. */
            message: string;
            /**
             * @description Where: a JSON pointer into the body (`/jobs/50/task`, empty for the body as a whole), `?`
             *     and the name of a query parameter (`?limit`), or the name of a header.
             */
            pointer: string;
        };
        /** @description The reports. */
        Finish: {
            /** @description Up to 1,000 reports. */
            outcomes: components["schemas"]["Report"][];
        };
        /** @description A result for each report, in the order of the request. */
        FinishAnswer: {
            /** @description The results. */
            results: components["schemas"]["FinishResult"][];
        };
        /** @description How one report was taken. */
        FinishResult: {
            /** @description The job, as it was given. */
            id: string;
            /** @description For `conflict`: the outcome that stands for this start. */
            recorded_outcome?: components["schemas"]["Outcome"];
            /** @description Whether the same report stood already. */
            repeated: boolean;
            state: components["schemas"]["State"] | null;
            /** @description How it was taken. */
            status: components["schemas"]["FinishStatus"];
        };
        /**
         * @description How a report was taken.
         * @enum {string}
         */
        FinishStatus: "ok" | "lease_lost" | "conflict" | "not_found";
        /** @description That all is well. */
        Health: {
            /** @description Always `ok`. */
            status: string;
        };
        /** @description Who is alive, and what it holds. */
        Heartbeat: {
            /** @description Whether the worker is shutting down and claims no more. */
            draining?: boolean | null;
            /**
             * Format: int64
             * @description How long each lease shall last from now, in milliseconds; 60000 when left out.
             */
            lease_ms?: number | null;
            /** @description What it holds, up to 1,000; none when left out. */
            leases?: components["schemas"]["HeldLease"][];
            /** @description Who is alive. */
            worker: components["schemas"]["WorkerIdentity"];
        };
        /** @description A result for each lease, in the order of the request. */
        HeartbeatAnswer: {
            /** @description The results. */
            results: components["schemas"]["HeartbeatResult"][];
        };
        /** @description What became of one lease. */
        HeartbeatResult: {
            /** @description Whether the job was asked to stop. */
            cancel_requested: boolean;
            expires_at: components["schemas"]["Timestamp"] | null;
            /**
             * Format: int64
             * @description The same in milliseconds, counted from the moment the call was sent.
             */
            expires_in_ms: number | null;
            /** @description The job, as it was given. */
            id: string;
            /** @description Whether the lease is live. */
            status: components["schemas"]["HeartbeatStatus"];
        };
        /**
         * @description Whether a lease was renewed.
         * @enum {string}
         */
        HeartbeatStatus: "ok" | "lease_lost";
        /** @description A lease that the worker believes to hold. */
        HeldLease: {
            /** @description The job. */
            id: string;
            /** @description The token of its claim. */
            token: string;
        };
        /**
         * @description What a duplicate create gets when the key's job has failed or was cancelled.
         * @enum {string}
         */
        IfFailed: "return" | "retry" | "replace";
        /** @description A job as most calls answer it: without its attempts and checkpoints. */
        Job: {
            /**
             * Format: int64
             * @description The counted starts of this life, the current one included; 0 before the first.
             */
            attempt: number;
            /** @description How long it waits between attempts. */
            backoff: components["schemas"]["Backoff"];
            /** @description Whether a running job was asked to stop. */
            cancel_requested: boolean;
            /**
             * Format: int64
             * @description Starts in a row whose lease ran out without a report.
             */
            crashes: number;
            /** @description When it was created. */
            created_at: components["schemas"]["Timestamp"];
            error: components["schemas"]["ErrorReport"] | null;
            finished_at: components["schemas"]["Timestamp"] | null;
            /** @description `job_` and 26 characters; opaque to clients. */
            id: string;
            idempotency_expires_at: components["schemas"]["Timestamp"] | null;
            /** @description The key it was created under; `null` without one, or when it was freed. */
            idempotency_key: string | null;
            /**
             * Format: int64
             * @description The life it is in, from 1; a retry by hand opens the next.
             */
            life: number;
            /**
             * Format: int64
             * @description Attempts a life may use, 1 to 100.
             */
            max_attempts: number;
            /**
             * Format: int64
             * @description Crashes in a row that fail the job, 1 to 100.
             */
            max_crashes: number;
            /** @description The payload, the sender's bytes; `null` once the job is purged. */
            payload: unknown;
            /**
             * Format: int64
             * @description −100 to 100, higher first.
             */
            priority: number;
            /** @description The queue it waits in. */
            queue: string;
            /**
             * Format: int64
             * @description Worker calls rejected because they carried a stale token.
             */
            rejected: number;
            /** @description The id of the job that took its key over. */
            replaced_by: string | null;
            /**
             * Format: int64
             * @description Creates answered with this job instead of a new one.
             */
            replays: number;
            /** @description The id of the job of which this is a new run. */
            rerun_of: string | null;
            /** @description What the handler returned, the worker's bytes; `null` until completed. */
            result: unknown;
            /** @description When it is or was due; of a retrying or snoozed job, when it is next due. */
            run_at: components["schemas"]["Timestamp"];
            started_at: components["schemas"]["Timestamp"] | null;
            /**
             * Format: int64
             * @description All starts of all lives; it never falls.
             */
            starts: number;
            /** @description Where it stands. */
            state: components["schemas"]["State"];
            /** @description The names it was tagged with. */
            tags: string[];
            /** @description The name of the task, which decides the handler. */
            task: string;
            /**
             * Format: int64
             * @description How long one start may take, in milliseconds.
             */
            timeout_ms: number;
            /** @description W3C trace context of the create, given to the worker. */
            traceparent: string | null;
        };
        /** @description Everything about one job. */
        JobDetail: {
            /**
             * Format: int64
             * @description The counted starts of this life, the current one included; 0 before the first.
             */
            attempt: number;
            /** @description The newest 100 starts, newest first, the running one included. */
            attempts: components["schemas"]["Attempt"][];
            /**
             * Format: int64
             * @description How many starts are on record.
             */
            attempts_total: number;
            /** @description How long it waits between attempts. */
            backoff: components["schemas"]["Backoff"];
            /** @description Whether a running job was asked to stop. */
            cancel_requested: boolean;
            /** @description Every checkpoint, in the order first written. */
            checkpoints: components["schemas"]["Checkpoint"][];
            /**
             * Format: int64
             * @description Starts in a row whose lease ran out without a report.
             */
            crashes: number;
            /** @description When it was created. */
            created_at: components["schemas"]["Timestamp"];
            error: components["schemas"]["ErrorReport"] | null;
            finished_at: components["schemas"]["Timestamp"] | null;
            /** @description `job_` and 26 characters; opaque to clients. */
            id: string;
            idempotency_expires_at: components["schemas"]["Timestamp"] | null;
            /** @description The key it was created under; `null` without one, or when it was freed. */
            idempotency_key: string | null;
            /**
             * Format: int64
             * @description The life it is in, from 1; a retry by hand opens the next.
             */
            life: number;
            /**
             * Format: int64
             * @description Attempts a life may use, 1 to 100.
             */
            max_attempts: number;
            /**
             * Format: int64
             * @description Crashes in a row that fail the job, 1 to 100.
             */
            max_crashes: number;
            /** @description The payload, the sender's bytes; `null` once the job is purged. */
            payload: unknown;
            /**
             * Format: int64
             * @description −100 to 100, higher first.
             */
            priority: number;
            /** @description The queue it waits in. */
            queue: string;
            /**
             * Format: int64
             * @description Worker calls rejected because they carried a stale token.
             */
            rejected: number;
            /** @description The id of the job that took its key over. */
            replaced_by: string | null;
            /**
             * Format: int64
             * @description Creates answered with this job instead of a new one.
             */
            replays: number;
            /** @description The id of the job of which this is a new run. */
            rerun_of: string | null;
            /** @description What the handler returned, the worker's bytes; `null` until completed. */
            result: unknown;
            /** @description When it is or was due; of a retrying or snoozed job, when it is next due. */
            run_at: components["schemas"]["Timestamp"];
            started_at: components["schemas"]["Timestamp"] | null;
            /**
             * Format: int64
             * @description All starts of all lives; it never falls.
             */
            starts: number;
            /** @description Where it stands. */
            state: components["schemas"]["State"];
            /** @description The names it was tagged with. */
            tags: string[];
            /** @description The name of the task, which decides the handler. */
            task: string;
            /**
             * Format: int64
             * @description How long one start may take, in milliseconds.
             */
            timeout_ms: number;
            /** @description W3C trace context of the create, given to the worker. */
            traceparent: string | null;
        };
        /** @description The data of an event named `job`. */
        JobEvent: {
            /**
             * Format: int64
             * @description Its attempt.
             */
            attempt: number;
            /** @description The job that changed. */
            id: string;
            /**
             * Format: int64
             * @description The life it is in.
             */
            life: number;
            /** @description Its queue. */
            queue: string;
            state: components["schemas"]["State"] | null;
            /** @description Its task. */
            task: string;
        };
        /** @description A row of a list: a job without its bodies. */
        JobSummary: {
            /**
             * Format: int64
             * @description The counted starts of this life, the current one included; 0 before the first.
             */
            attempt: number;
            /** @description Whether a running job was asked to stop. */
            cancel_requested: boolean;
            /**
             * Format: int64
             * @description Starts in a row whose lease ran out without a report.
             */
            crashes: number;
            /** @description When it was created. */
            created_at: components["schemas"]["Timestamp"];
            error: components["schemas"]["ErrorReport"] | null;
            finished_at: components["schemas"]["Timestamp"] | null;
            /** @description `job_` and 26 characters; opaque to clients. */
            id: string;
            idempotency_expires_at: components["schemas"]["Timestamp"] | null;
            /** @description The key it was created under; `null` without one, or when it was freed. */
            idempotency_key: string | null;
            /**
             * Format: int64
             * @description The life it is in, from 1; a retry by hand opens the next.
             */
            life: number;
            /**
             * Format: int64
             * @description Attempts a life may use, 1 to 100.
             */
            max_attempts: number;
            /**
             * Format: int64
             * @description Crashes in a row that fail the job, 1 to 100.
             */
            max_crashes: number;
            /**
             * Format: int64
             * @description −100 to 100, higher first.
             */
            priority: number;
            /** @description The queue it waits in. */
            queue: string;
            /**
             * Format: int64
             * @description Worker calls rejected because they carried a stale token.
             */
            rejected: number;
            /** @description The id of the job that took its key over. */
            replaced_by: string | null;
            /**
             * Format: int64
             * @description Creates answered with this job instead of a new one.
             */
            replays: number;
            /** @description The id of the job of which this is a new run. */
            rerun_of: string | null;
            /** @description When it is or was due; of a retrying or snoozed job, when it is next due. */
            run_at: components["schemas"]["Timestamp"];
            started_at: components["schemas"]["Timestamp"] | null;
            /**
             * Format: int64
             * @description All starts of all lives; it never falls.
             */
            starts: number;
            /** @description Where it stands. */
            state: components["schemas"]["State"];
            /** @description The names it was tagged with. */
            tags: string[];
            /** @description The name of the task, which decides the handler. */
            task: string;
            /**
             * Format: int64
             * @description How long one start may take, in milliseconds.
             */
            timeout_ms: number;
            /** @description W3C trace context of the create, given to the worker. */
            traceparent: string | null;
        };
        /** @description Who holds a key. */
        KeyHolder: {
            expires_at: components["schemas"]["Timestamp"] | null;
            /** @description The job that holds it. */
            job_id: string;
            /** @description The key. */
            key: string;
            /** @description Whether that job's row is gone and only the key is left. */
            purged: boolean;
            /** @description That job's state, the last one when it was purged. */
            state: components["schemas"]["State"];
            /** @description The task in whose scope the key is. */
            task: string;
        };
        /** @description What a start holds. The token is live until `expires_at` or `deadline`, whichever is first. */
        Lease: {
            /** @description When it ends whatever heartbeats come, by the store's clock. */
            deadline: components["schemas"]["Timestamp"];
            /**
             * Format: int64
             * @description The same in milliseconds, counted from the moment the call was sent.
             */
            deadline_in_ms: number;
            /** @description When it ends without a heartbeat, by the store's clock. */
            expires_at: components["schemas"]["Timestamp"];
            /**
             * Format: int64
             * @description The same in milliseconds, counted from the moment the call was sent.
             */
            expires_in_ms: number;
            /** @description What every further call about this start carries. */
            token: string;
        };
        /** @description A page of jobs. */
        ListAnswer: {
            /** @description The jobs of this page. */
            data: components["schemas"]["JobSummary"][];
            /** @description The cursor of the next page; `null` on the last. */
            next_cursor: string | null;
            /** @description Whether the bound of 10,000 examined rows ended this page before it was full. */
            partial: boolean;
        };
        /** @description What happened in one minute. */
        Minute: {
            /** @description When it began. */
            at: components["schemas"]["Timestamp"];
            /**
             * Format: int64
             * @description Lives that completed in it.
             */
            completed: number;
            /**
             * Format: int64
             * @description Jobs created in it.
             */
            created: number;
            /**
             * Format: int64
             * @description Lives that failed in it.
             */
            failed: number;
        };
        /**
         * @description The order of a list by time of creation.
         * @enum {string}
         */
        Order: "asc" | "desc";
        /**
         * @description What a worker reports about a start.
         * @enum {string}
         */
        Outcome: "completed" | "failed" | "released" | "snoozed" | "cancelled";
        /** @description The body of every answer that is an error. */
        Problem: {
            /**
             * @description Where the payload differs from that of the key's job, as JSON pointers, at most 20; `null`
             *     when that job was purged and there is nothing left to compare with.
             */
            changed?: string[] | null;
            /** @description The checkpoint that was written first, for `checkpoint_conflict`. */
            checkpoint?: components["schemas"]["Checkpoint"];
            /** @description What is wrong, for programs. */
            code: components["schemas"]["Code"];
            /** @description What is wrong this time, for people, with the values that matter. */
            detail: string;
            /** @description Everything that is wrong with the request, each with its place. */
            errors?: components["schemas"]["FieldError"][];
            /** @description The job in whose way the call stood. */
            job_id?: string;
            /** @description The id of the request, as in the header `X-Request-Id`. */
            request_id: string;
            /** @description Whether the same request, sent again later, may succeed. */
            retryable: boolean;
            /**
             * Format: int32
             * @description The HTTP status; of an item in a batch, the status it would have had alone.
             */
            status: number;
            /** @description A short sentence for people, always the same for one code. */
            title: string;
            /** @description A reference to the documentation of the code. */
            type: string;
        };
        /** @description A queue, the answer of every call but the list. */
        Queue: {
            /** @description Its jobs by state. */
            counts: components["schemas"]["Counts"];
            /** @description Its name. */
            name: string;
            oldest_queued_at: components["schemas"]["Timestamp"] | null;
            /** @description Whether claims pass it by. */
            paused: boolean;
            /**
             * Format: int64
             * @description How many live workers name it.
             */
            workers: number;
        };
        /** @description Every queue, by name. */
        QueuesAnswer: {
            /** @description The queues. */
            data: components["schemas"]["Queue"][];
        };
        /** @description What became of one start. Members that belong to another outcome are ignored. */
        Report: {
            /**
             * Format: int64
             * @description `snoozed`, required there: how long to put it off, in milliseconds.
             */
            delay_ms?: number | null;
            error?: components["schemas"]["FailureText"] | null;
            /** @description The job. */
            id: string;
            /** @description What became of it. */
            outcome: components["schemas"]["Outcome"];
            /** @description `completed`: what the handler returned, any JSON up to 1 MiB; `null` when left out. */
            result?: unknown;
            /**
             * Format: int64
             * @description `failed`: the least wait before the next attempt, in milliseconds, cut at 7 days; less than
             *     0 counts as 0.
             */
            retry_after_ms?: number | null;
            /** @description `failed`: whether another attempt may succeed; `true` when left out. */
            retryable?: boolean | null;
            /** @description The token of its claim. */
            token: string;
        };
        /** @description The job after a retry. */
        RetriedJob: {
            /**
             * Format: int64
             * @description The counted starts of this life, the current one included; 0 before the first.
             */
            attempt: number;
            /** @description How long it waits between attempts. */
            backoff: components["schemas"]["Backoff"];
            /** @description Whether a running job was asked to stop. */
            cancel_requested: boolean;
            /**
             * Format: int64
             * @description Starts in a row whose lease ran out without a report.
             */
            crashes: number;
            /** @description When it was created. */
            created_at: components["schemas"]["Timestamp"];
            error: components["schemas"]["ErrorReport"] | null;
            finished_at: components["schemas"]["Timestamp"] | null;
            /** @description `job_` and 26 characters; opaque to clients. */
            id: string;
            idempotency_expires_at: components["schemas"]["Timestamp"] | null;
            /** @description The key it was created under; `null` without one, or when it was freed. */
            idempotency_key: string | null;
            /**
             * Format: int64
             * @description The life it is in, from 1; a retry by hand opens the next.
             */
            life: number;
            /**
             * Format: int64
             * @description Attempts a life may use, 1 to 100.
             */
            max_attempts: number;
            /**
             * Format: int64
             * @description Crashes in a row that fail the job, 1 to 100.
             */
            max_crashes: number;
            /** @description The payload, the sender's bytes; `null` once the job is purged. */
            payload: unknown;
            /**
             * Format: int64
             * @description −100 to 100, higher first.
             */
            priority: number;
            /** @description The queue it waits in. */
            queue: string;
            /**
             * Format: int64
             * @description Worker calls rejected because they carried a stale token.
             */
            rejected: number;
            /** @description Whether a later life existed already and nothing was changed. */
            repeated: boolean;
            /** @description The id of the job that took its key over. */
            replaced_by: string | null;
            /**
             * Format: int64
             * @description Creates answered with this job instead of a new one.
             */
            replays: number;
            /** @description The id of the job of which this is a new run. */
            rerun_of: string | null;
            /** @description What the handler returned, the worker's bytes; `null` until completed. */
            result: unknown;
            /** @description When it is or was due; of a retrying or snoozed job, when it is next due. */
            run_at: components["schemas"]["Timestamp"];
            started_at: components["schemas"]["Timestamp"] | null;
            /**
             * Format: int64
             * @description All starts of all lives; it never falls.
             */
            starts: number;
            /** @description Where it stands. */
            state: components["schemas"]["State"];
            /** @description The names it was tagged with. */
            tags: string[];
            /** @description The name of the task, which decides the handler. */
            task: string;
            /**
             * Format: int64
             * @description How long one start may take, in milliseconds.
             */
            timeout_ms: number;
            /** @description W3C trace context of the create, given to the worker. */
            traceparent: string | null;
        };
        /** @description How to retry. Everything may be left out, the body too. */
        Retry: {
            /** @description Whether a completed job may be retried. */
            allow_completed?: boolean | null;
            /** @description Whether to drop all checkpoints. Not with `from`. */
            fresh?: boolean | null;
            /** @description The name of the checkpoint to start again from: it and the later ones are dropped. */
            from?: string | null;
            /**
             * Format: int64
             * @description The life that the caller saw: when a later one exists already, nothing is changed, so that
             *     the same call twice opens one new life.
             */
            life?: number | null;
        };
        /**
         * @description Why a job that is retrying waits as long as it does.
         * @enum {string}
         */
        RetryReason: "backoff" | "retry_after" | "crash";
        /**
         * @description What a key may do. Each role may do what the ones before it may.
         * @enum {string}
         */
        Role: "producer" | "worker" | "admin";
        /** @description What the new job has of its own. The body may be left out. */
        RunAsNew: {
            /** @description Another payload; that of the old job when left out or `null`. */
            payload?: unknown;
        };
        /** @description Who calls, and what this server lets them do. */
        Session: {
            /** @description The name of their key; `null` on a server that asks for none. */
            name: string | null;
            /** @description Whether this server refuses every call that changes something. */
            read_only: boolean;
            /** @description What they may do. */
            role: components["schemas"]["Role"];
        };
        /** @description A key to sign in with. */
        StartSession: {
            /** @description The text of a key. */
            key: string;
        };
        /**
         * @description Where a job stands. `completed`, `failed` and `cancelled` are terminal: they end a life.
         * @enum {string}
         */
        State: "scheduled" | "queued" | "running" | "retrying" | "completed" | "failed" | "cancelled";
        /** @description Counters by state, totals since the store was made, and the last 24 hours by minute. */
        Stats: {
            /** @description The jobs in the store by state. */
            counts: components["schemas"]["Counts"];
            /** @description What happened in each minute of the last 24 hours, oldest first. */
            minutes: components["schemas"]["Minute"][];
            /** @description What happened so far. */
            totals: components["schemas"]["Totals"];
        };
        /** @description A task that has jobs. */
        Task: {
            /** @description Its jobs by state. */
            counts: components["schemas"]["Counts"];
            /** @description Its name. */
            name: string;
            /** @description The queues its jobs are in. */
            queues: string[];
            /**
             * Format: int64
             * @description How many live workers handle it; 0 means that nobody does.
             */
            workers: number;
        };
        /** @description Every task, by name. */
        TasksAnswer: {
            /** @description The tasks. */
            data: components["schemas"]["Task"][];
        };
        /** Format: date-time */
        Timestamp: string;
        /** @description What happened so far, as counters that only grow. */
        Totals: {
            /**
             * Format: int64
             * @description Lives that were cancelled.
             */
            cancelled: number;
            /**
             * Format: int64
             * @description Lives that completed.
             */
            completed: number;
            /**
             * Format: int64
             * @description Jobs created.
             */
            created: number;
            /**
             * Format: int64
             * @description Lives that failed.
             */
            failed: number;
            /**
             * Format: int64
             * @description Creates refused because their key was used with another payload.
             */
            keys_refused: number;
            /**
             * Format: int64
             * @description Starts whose lease ran out without a report.
             */
            leases_lost: number;
            /**
             * Format: int64
             * @description Creates answered with a job that was there already.
             */
            replayed: number;
            /**
             * Format: int64
             * @description Worker calls rejected because they carried a stale token.
             */
            reports_rejected: number;
            /**
             * Format: int64
             * @description Lives opened by a retry.
             */
            retried: number;
            /**
             * Format: int64
             * @description Starts that passed their deadline.
             */
            timed_out: number;
        };
        /** @description The server's own name and version. */
        Version: {
            /** @description The newest version of the API that it speaks. */
            api: string;
            /** @description Always `halyard`. */
            name: string;
            /** @description The server's version, such as `0.1.0`. */
            version: string;
        };
        /** @description A worker that was heard of lately. */
        Worker: {
            /** @description Whether it is shutting down. */
            draining: boolean;
            /** @description When it was first heard of. */
            first_seen_at: components["schemas"]["Timestamp"];
            /** @description Its id. */
            id: string;
            /** @description When it was last heard of. */
            last_seen_at: components["schemas"]["Timestamp"];
            /** @description Its name for people. */
            name: string | null;
            /** @description The queues it claims from. */
            queues: string[];
            /**
             * Format: int64
             * @description How many jobs it holds.
             */
            running: number;
            /** @description Its client library. */
            sdk: string | null;
            /** @description The tasks it handles; `null` for all. */
            tasks: string[] | null;
        };
        /** @description How a worker names itself in its calls. */
        WorkerIdentity: {
            /** @description An id that is its own for as long as its process lives, `wrk_` and 26 characters. */
            id: string;
            /** @description A name for people, such as host and process; up to 128 code points. */
            name?: string | null;
            /** @description The client library and its version; up to 128 code points. */
            sdk?: string | null;
        };
        /** @description Every live worker. */
        WorkersAnswer: {
            /** @description The workers. */
            data: components["schemas"]["Worker"][];
        };
        /** @description The checkpoint to write. */
        WriteCheckpoint: {
            /** @description Its name, 1 to 128 code points. */
            name: string;
            /** @description The token of the start that writes it. */
            token: string;
            /** @description Any JSON up to 256 KiB; `null` when left out. */
            value?: unknown;
        };
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export type operations = Record<string, never>;
