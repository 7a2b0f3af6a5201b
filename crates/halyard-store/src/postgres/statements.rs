//! Every statement with the types of its parameters, made once for a schema.
//!
//! They are sent unnamed, text and parameters together, so that a pooler may give each transaction
//! another connection. Where none does, [`names`](super::names) spares the database most of that.

use tokio_postgres::types::{ToSql, Type};

/// A statement of this store.
#[derive(Debug)]
pub(super) struct Statement {
    pub(super) name: &'static str,
    /// Its text, with the schema's own name.
    pub(super) text: String,
    pub(super) types: &'static [Type],
}

/// A parameter, as it is bound.
pub(super) type Parameter<'p> = &'p (dyn ToSql + Sync);

impl Statement {
    fn new(name: &'static str, text: &str, types: &'static [Type], schema: &str) -> Self {
        // Comments are for readers of the file: every call would send them.
        let lines = text.lines().filter(|line| !line.trim_start().starts_with("--"));
        let text = lines.collect::<Vec<_>>().join("\n");
        Self { name, text: text.replace("halyard.", &format!("{schema}.")), types }
    }

    /// Its parameters with their types.
    pub(super) fn bind<'p>(&self, values: &[Parameter<'p>]) -> Vec<(Parameter<'p>, Type)> {
        debug_assert_eq!(values.len(), self.types.len(), "{}", self.text);
        values.iter().copied().zip(self.types.iter().cloned()).collect()
    }
}

/// Makes the struct of all statements: `name: [types of its parameters]`, the text stands in
/// `sql/name.sql`.
macro_rules! statements {
    ($($name:ident: [$($kind:ident),*];)*) => {
        /// All statements of one schema.
        #[derive(Debug)]
        pub(super) struct Statements {
            $(pub(super) $name: Statement,)*
            pub(super) lists: Lists,
            pub(super) ready: ReadyStatements,
        }

        impl Statements {
            /// `schema` is quoted where that is needed.
            pub(super) fn of(schema: &str) -> Self {
                Self {
                    $($name: Statement::new(
                        stringify!($name),
                        include_str!(concat!("sql/", stringify!($name), ".sql")),
                        &[$(Type::$kind),*],
                        schema,
                    ),)*
                    lists: Lists::of(schema),
                    ready: ReadyStatements::of(schema),
                }
            }
        }
    };
}

impl Statements {
    /// Those that transactions of jobs run all the time.
    pub(super) fn of_transactions(&self) -> impl Iterator<Item = &Statement> {
        [
            &self.attempts_insert,
            &self.attempts_numbered,
            &self.attempts_of_tokens,
            &self.bodies,
            &self.bodies_insert,
            &self.checkpoints,
            &self.checkpoints_insert,
            &self.checkpoints_named,
            &self.counters_add,
            &self.jobs,
            &self.jobs_end,
            &self.jobs_insert,
            &self.jobs_save,
            &self.jobs_start,
            &self.key_names,
            &self.keys,
            &self.keys_take,
            &self.minutes_add,
            &self.numbers,
            &self.queues,
            &self.ready.all,
            &self.ready.below,
            &self.ready.from,
            &self.ready_tasks,
            &self.requests,
            &self.requests_save,
            &self.results,
            &self.results_save,
            &self.totals_add,
            &self.transaction_id,
        ]
        .into_iter()
    }
}

/// One page of jobs, oldest first and newest first, by where its places are looked for.
#[derive(Debug)]
pub(super) struct Lists {
    pub(super) all: [Statement; 2],
    pub(super) key: [Statement; 2],
    pub(super) unhappy: [Statement; 2],
    pub(super) waiting: [Statement; 2],
}

impl Lists {
    fn of(schema: &str) -> Self {
        const LOW: &str = "seq > $1 AND created_at >= $8";
        const HIGH: &str = "seq < $2 AND created_at < $9";
        let page = |places: &str| {
            [("ASC", LOW, HIGH), ("DESC", HIGH, LOW)].map(|(order, near, far)| {
                let page = include_str!("sql/list_page.sql").replace(":places", places);
                let page = page.replace(":near", near).replace(":far", far);
                Statement::new("list_page", &page.replace(":order", order), LIST, schema)
            })
        };
        Self {
            all: page(include_str!("sql/list_all.sql")),
            key: page(include_str!("sql/list_key.sql")),
            unhappy: page(include_str!("sql/list_unhappy.sql")),
            waiting: page(include_str!("sql/list_waiting.sql")),
        }
    }
}

/// Places above and below; states, queue, task and tag; how many; times from and before; a key; how
/// many to examine.
const LIST: &[Type] = &[
    Type::INT8,
    Type::INT8,
    Type::INT2_ARRAY,
    Type::TEXT,
    Type::TEXT,
    Type::TEXT,
    Type::INT8,
    Type::INT8,
    Type::INT8,
    Type::TEXT,
    Type::INT8,
];

/// The next claimable jobs, by where they are looked for.
#[derive(Debug)]
pub(super) struct ReadyStatements {
    pub(super) all: Statement,
    /// Those below a priority.
    pub(super) below: Statement,
    /// Those of one priority, from a place of each pair on.
    pub(super) from: Statement,
}

impl ReadyStatements {
    fn of(schema: &str) -> Self {
        const PLACES: &str = "priority = $5 AND (run_at, seq) >= (wanted.run_at, wanted.seq)";
        let pairs = ("$1, $2", "queue, task");
        let with_places = ("$1, $2, $6, $7", "queue, task, run_at, seq");
        let ready = |name, (arrays, columns), places, types| {
            let text = include_str!("sql/ready.sql").replace(":arrays", arrays);
            let text = text.replace(":columns", columns).replace(":places", places);
            Statement::new(name, &text, types, schema)
        };
        Self {
            all: ready("ready", pairs, "true", READY),
            below: ready("ready_below", pairs, "priority < $5", READY_BELOW),
            from: ready("ready_from", with_places, PLACES, READY_FROM),
        }
    }
}

/// Queues and tasks; how many, and how many bytes; a priority; times and numbers of places.
const READY_FROM: &[Type] = &[
    Type::TEXT_ARRAY,
    Type::TEXT_ARRAY,
    Type::INT8,
    Type::INT8,
    Type::INT4,
    Type::INT8_ARRAY,
    Type::INT8_ARRAY,
];
const READY_BELOW: &[Type] = READY_FROM.split_at(5).0;
const READY: &[Type] = READY_FROM.split_at(4).0;

statements! {
    api_keys: [];
    api_keys_delete: [UUID_ARRAY];
    api_keys_insert: [UUID_ARRAY, TEXT_ARRAY, TEXT_ARRAY, BYTEA_ARRAY, INT8_ARRAY, INT8_ARRAY];
    api_keys_lock: [];
    api_keys_use: [UUID_ARRAY, INT8_ARRAY];
    attempts_delete: [INT8_ARRAY];
    attempts_insert: [
        INT8_ARRAY, INT8_ARRAY, UUID_ARRAY, UUID_ARRAY, INT4_ARRAY, INT4_ARRAY, INT2_ARRAY,
        TEXT_ARRAY, INT8_ARRAY, INT8_ARRAY, INT8_ARRAY, INT8_ARRAY, INT2_ARRAY, INT2_ARRAY,
        BYTEA_ARRAY, INT2_ARRAY, TEXT_ARRAY, TEXT_ARRAY, TEXT_ARRAY, TEXT_ARRAY
    ];
    attempts_newest: [INT8, INT8];
    attempts_numbered: [INT8_ARRAY, INT8_ARRAY];
    attempts_of_tokens: [INT8_ARRAY, UUID_ARRAY];
    audit_insert: [
        INT8_ARRAY, TEXT_ARRAY, UUID_ARRAY, TEXT_ARRAY, TEXT_ARRAY, TEXT_ARRAY, TEXT_ARRAY
    ];
    audit_page: [INT8, INT8];
    audit_prune: [INT8, INT8, INT8];
    bodies: [INT8_ARRAY];
    bodies_delete: [INT8_ARRAY];
    bodies_insert: [
        INT8_ARRAY, UUID_ARRAY, TEXT_ARRAY, TEXT_ARRAY, TEXT_ARRAY, UUID_ARRAY, TEXT_ARRAY
    ];
    checkpoints: [INT8_ARRAY];
    checkpoints_delete: [INT8_ARRAY, INT4_ARRAY];
    checkpoints_insert: [
        INT8_ARRAY, INT4_ARRAY, TEXT_ARRAY, INT4_ARRAY, INT4_ARRAY, INT8_ARRAY, INT8_ARRAY,
        TEXT_ARRAY
    ];
    checkpoints_named: [INT8_ARRAY, TEXT_ARRAY];
    claimed: [INT8, UUID_ARRAY];
    clock: [];
    counters: [];
    counters_add: [INT2, TEXT_ARRAY, TEXT_ARRAY, INT2_ARRAY, INT8_ARRAY];
    counters_clean: [INT8];
    created_place: [INT8];
    doctor: [TEXT];
    doctor_tables: [TEXT];
    due: [INT8, INT8];
    ended: [INT2, INT8, INT8];
    ended_count: [];
    ended_first: [INT2, INT8];
    graves: [UUID_ARRAY];
    holder: [TEXT, TEXT];
    jobs: [UUID_ARRAY];
    jobs_delete: [INT8_ARRAY];
    jobs_end: [INT8_ARRAY, INT2_ARRAY, UUID_ARRAY, INT2_ARRAY, INT2_ARRAY, INT8_ARRAY];
    jobs_free: [UUID_ARRAY];
    jobs_insert: [
        INT8_ARRAY, UUID_ARRAY, TEXT_ARRAY, TEXT_ARRAY, INT2_ARRAY, INT4_ARRAY, INT8_ARRAY,
        INT8_ARRAY, INT4_ARRAY, INT4_ARRAY, INT8_ARRAY, INT8_ARRAY, FLOAT8_ARRAY, INT8_ARRAY,
        FLOAT8_ARRAY, INT8_ARRAY, BOOL_ARRAY, INT8_ARRAY
    ];
    jobs_save: [
        INT8_ARRAY, INT2_ARRAY, UUID_ARRAY, INT2_ARRAY, INT8_ARRAY, INT4_ARRAY, INT4_ARRAY,
        INT8_ARRAY, INT4_ARRAY, INT8_ARRAY, INT8_ARRAY, INT8_ARRAY, INT8_ARRAY, BOOL_ARRAY,
        INT8_ARRAY, BOOL_ARRAY, INT4_ARRAY, INT8_ARRAY, INT8_ARRAY, INT8_ARRAY, UUID_ARRAY,
        INT2_ARRAY, UUID_ARRAY, UUID_ARRAY, UUID_ARRAY, TEXT_ARRAY, INT8_ARRAY, INT8_ARRAY,
        INT8_ARRAY, INT8_ARRAY, INT8_ARRAY
    ];
    jobs_seen: [UUID_ARRAY];
    jobs_start: [
        INT8_ARRAY, INT2_ARRAY, UUID_ARRAY, INT2_ARRAY, INT4_ARRAY, INT8_ARRAY, INT2_ARRAY,
        UUID_ARRAY, UUID_ARRAY, UUID_ARRAY, TEXT_ARRAY, INT8_ARRAY, INT8_ARRAY, INT8_ARRAY,
        INT8_ARRAY, INT8_ARRAY
    ];
    key_names: [UUID_ARRAY];
    keys: [TEXT_ARRAY, TEXT_ARRAY];
    keys_delete: [TEXT_ARRAY, TEXT_ARRAY];
    keys_prune: [INT8, INT8];
    keys_take: [
        TEXT_ARRAY, TEXT_ARRAY, UUID_ARRAY, BYTEA_ARRAY, INT2_ARRAY, INT8_ARRAY, TEXT_ARRAY,
        INT2_ARRAY, INT8_ARRAY, INT8_ARRAY, INT8_ARRAY
    ];
    lapsed: [INT8, INT8];
    leases_cut: [INT8, INT8, INT8];
    live: [INT8];
    migrations: [];
    minutes: [INT8];
    minutes_add: [INT2, INT8, INT8, INT8, INT8];
    minutes_prune: [INT8];
    notify: [TEXT, TEXT];
    numbers: [INT4];
    queue_status: [TEXT];
    queues: [];
    queues_set: [TEXT_ARRAY, BOOL_ARRAY];
    ready_queues: [];
    ready_tasks: [TEXT_ARRAY];
    requests: [TEXT_ARRAY, TEXT_ARRAY];
    requests_delete: [TEXT_ARRAY, TEXT_ARRAY];
    requests_prune: [INT8, INT8];
    requests_save: [TEXT_ARRAY, TEXT_ARRAY, BYTEA_ARRAY, INT8_ARRAY, TEXT_ARRAY];
    results: [INT8_ARRAY];
    results_delete: [INT8_ARRAY];
    results_save: [INT8_ARRAY, TEXT_ARRAY];
    rights: [TEXT];
    running_by_worker: [];
    session_mark: [];
    sign_ins: [];
    sign_ins_delete: [BYTEA_ARRAY];
    sign_ins_insert: [BYTEA_ARRAY, BYTEA_ARRAY, INT8_ARRAY];
    sign_ins_lock: [];
    stamp_begin: [INT8];
    stamp_lock: [];
    stamp_set: [INT8];
    states: [UUID_ARRAY];
    totals: [];
    totals_add: [INT2, INT8, INT8, INT8, INT8, INT8, INT8, INT8, INT8, INT8, INT8];
    transaction_id: [];
    transaction_status: [TEXT, INT8];
    view: [UUID];
}
