//! Every statement with the types of its parameters, made once for a schema.
//!
//! They are sent unnamed, text and parameters together, so that no connection holds any state and a
//! pooler may give each transaction another one.

use tokio_postgres::types::{ToSql, Type};

/// A statement of this store.
#[derive(Debug)]
pub(super) struct Statement {
    /// Its text, with the schema's own name.
    pub(super) text: String,
    types: &'static [Type],
}

/// A parameter, as it is bound.
pub(super) type Parameter<'p> = &'p (dyn ToSql + Sync);

impl Statement {
    fn new(text: &str, types: &'static [Type], schema: &str) -> Self {
        Self { text: text.replace("halyard.", &format!("{schema}.")), types }
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
        }

        impl Statements {
            /// `schema` is quoted where that is needed.
            pub(super) fn of(schema: &str) -> Self {
                Self {
                    $($name: Statement::new(
                        include_str!(concat!("sql/", stringify!($name), ".sql")),
                        &[$(Type::$kind),*],
                        schema,
                    ),)*
                }
            }
        }
    };
}

statements! {}
