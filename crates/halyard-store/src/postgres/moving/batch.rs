//! Rows on their way in, an array for each column.

use tokio_postgres::types::{ToSql, Type};
use uuid::Uuid;

use crate::moving::MoveError;
use crate::moving::tables::{Kind, Table, Value};

/// Rows of one statement.
const ROWS_MAX: usize = 1_000;
/// Bytes of texts after which a statement is sent though it has fewer rows.
const BYTES_MAX: usize = 4 << 20;

/// Rows of one table.
pub(crate) struct Batch {
    pub(super) table: &'static Table,
    columns: Vec<Column>,
    rows: usize,
    bytes: usize,
}

enum Column {
    Small(Vec<Option<i16>>),
    Medium(Vec<Option<i32>>),
    Large(Vec<Option<i64>>),
    Truth(Vec<Option<bool>>),
    Real(Vec<Option<f64>>),
    Text(Vec<Option<String>>),
    Bytes(Vec<Option<Vec<u8>>>),
    Uuid(Vec<Option<Uuid>>),
}

impl Batch {
    pub(crate) fn of(table: &'static Table) -> Self {
        let columns = table.columns.iter().map(|(_, kind)| Column::of(*kind)).collect();
        Self { table, columns, rows: 0, bytes: 0 }
    }

    pub(crate) fn push(&mut self, row: Vec<Value>) -> Result<(), MoveError> {
        let columns = self.columns.iter_mut().zip(self.table.columns);
        for ((column, (name, _)), value) in columns.zip(row) {
            self.bytes += match &value {
                Value::Text(text) => text.len(),
                Value::Bytes(bytes) => bytes.len(),
                Value::Null | Value::Whole(_) | Value::Real(_) => 0,
            };
            let pushed = column.push(value);
            pushed.ok_or(MoveError::Senseless { table: self.table.name, column: name })?;
        }
        self.rows += 1;
        Ok(())
    }

    pub(crate) fn is_full(&self) -> bool {
        self.rows >= ROWS_MAX || self.bytes >= BYTES_MAX
    }

    pub(super) fn is_empty(&self) -> bool {
        self.rows == 0
    }

    pub(super) fn clear(&mut self) {
        *self = Self::of(self.table);
    }

    pub(super) fn parameters(&self) -> Vec<(&(dyn ToSql + Sync), Type)> {
        self.columns.iter().map(Column::parameter).collect()
    }
}

impl Column {
    fn of(kind: Kind) -> Self {
        match kind {
            Kind::Small => Self::Small(Vec::new()),
            Kind::Medium => Self::Medium(Vec::new()),
            Kind::Large => Self::Large(Vec::new()),
            Kind::Truth => Self::Truth(Vec::new()),
            Kind::Real => Self::Real(Vec::new()),
            Kind::Text => Self::Text(Vec::new()),
            Kind::Bytes => Self::Bytes(Vec::new()),
            Kind::Uuid => Self::Uuid(Vec::new()),
        }
    }

    /// `None` when the column cannot hold it.
    fn push(&mut self, value: Value) -> Option<()> {
        match (self, value) {
            (Self::Small(list), Value::Null) => list.push(None),
            (Self::Medium(list), Value::Null) => list.push(None),
            (Self::Large(list), Value::Null) => list.push(None),
            (Self::Truth(list), Value::Null) => list.push(None),
            (Self::Real(list), Value::Null) => list.push(None),
            (Self::Text(list), Value::Null) => list.push(None),
            (Self::Bytes(list), Value::Null) => list.push(None),
            (Self::Uuid(list), Value::Null) => list.push(None),
            (Self::Small(list), Value::Whole(number)) => list.push(Some(number.try_into().ok()?)),
            (Self::Medium(list), Value::Whole(number)) => list.push(Some(number.try_into().ok()?)),
            (Self::Large(list), Value::Whole(number)) => list.push(Some(number)),
            (Self::Truth(list), Value::Whole(number)) => list.push(Some(number == 1)),
            (Self::Real(list), Value::Real(number)) => list.push(Some(number)),
            (Self::Text(list), Value::Text(text)) => list.push(Some(text)),
            (Self::Bytes(list), Value::Bytes(bytes)) => list.push(Some(bytes)),
            (Self::Uuid(list), Value::Bytes(bytes)) => {
                list.push(Some(Uuid::from_slice(&bytes).ok()?));
            }
            _ => return None,
        }
        Some(())
    }

    fn parameter(&self) -> (&(dyn ToSql + Sync), Type) {
        match self {
            Self::Small(list) => (list, Type::INT2_ARRAY),
            Self::Medium(list) => (list, Type::INT4_ARRAY),
            Self::Large(list) => (list, Type::INT8_ARRAY),
            Self::Truth(list) => (list, Type::BOOL_ARRAY),
            Self::Real(list) => (list, Type::FLOAT8_ARRAY),
            Self::Text(list) => (list, Type::TEXT_ARRAY),
            Self::Bytes(list) => (list, Type::BYTEA_ARRAY),
            Self::Uuid(list) => (list, Type::UUID_ARRAY),
        }
    }
}
