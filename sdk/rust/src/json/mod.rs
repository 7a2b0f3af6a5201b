//! Values between Rust types and JSON, without a silent change.
//!
//! - [`write`]: a value as JSON text. What JSON cannot carry is an error that names the path: a map
//!   key that is no string, and NaN and the infinities, for which `serde_json` writes `null`.
//! - [`read`]: JSON text as a value; what does not fit is an error that names the path.
//!
//! Numbers keep their digits for as long as they are text. What they become when they are read is
//! the choice of the type: `u64` and `i128` are exact, `f64` and [`serde_json::Value`] round.

mod finite;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

use crate::error::InvalidValue;

/// `value` as JSON text; `what` is its name in an error, such as `payload`.
pub(crate) fn write<T: Serialize + ?Sized>(
    what: &str,
    value: &T,
) -> Result<Box<RawValue>, InvalidValue> {
    let invalid = |path: String, message: String| InvalidValue {
        what: what.to_owned(),
        path: if path.is_empty() { ".".to_owned() } else { path },
        message,
    };
    let text = match serde_json::to_string(value) {
        Ok(text) => text,
        Err(error) => {
            let fault = finite::fault(value);
            let (path, message) = fault.unwrap_or_else(|| (String::new(), error.to_string()));
            return Err(invalid(path, message));
        }
    };
    // A number that is not finite was written as `null`, so a text without it needs no second look.
    if text.contains("null")
        && let Some((path, message)) = finite::fault(value)
    {
        return Err(invalid(path, message));
    }
    RawValue::from_string(text).map_err(|error| invalid(String::new(), error.to_string()))
}

/// The value that `text` is; an absent one is `null`.
pub(crate) fn read<T: DeserializeOwned>(
    what: &str,
    text: Option<&RawValue>,
) -> Result<T, InvalidValue> {
    let text = text.map_or("null", RawValue::get);
    let mut reader = serde_json::Deserializer::from_str(text);
    serde_path_to_error::deserialize(&mut reader).map_err(|error| InvalidValue {
        what: what.to_owned(),
        path: error.path().to_string(),
        message: error.into_inner().to_string(),
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use serde::Deserialize;

    use super::*;

    #[derive(Debug, Serialize, Deserialize)]
    struct Order {
        items: Vec<Item>,
        note: Option<String>,
    }

    #[derive(Debug, Serialize, Deserialize)]
    struct Item {
        price: f64,
    }

    fn order(price: f64) -> Order {
        Order { items: vec![Item { price: 1.5 }, Item { price }], note: None }
    }

    #[test]
    fn writes() {
        let text = write("payload", &order(2.0)).expect("finite");
        assert_eq!(text.get(), r#"{"items":[{"price":1.5},{"price":2.0}],"note":null}"#);
        let big = i128::from(i64::MAX) * 1_000_000;
        assert_eq!(write("payload", &big).expect("whole").get(), "9223372036854775807000000");
        let raw = RawValue::from_string("1e400".to_owned()).expect("JSON");
        assert_eq!(write("payload", &[Some(&raw), None]).expect("JSON").get(), "[1e400,null]");
    }

    #[test]
    fn refuses_what_json_cannot_carry() {
        let shown = |error: InvalidValue| error.to_string();
        for price in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            let error = write("payload", &order(price)).map_err(shown);
            let expected = format!("payload does not fit at `items[1].price`: JSON has no {price}");
            assert_eq!(error.expect_err("not finite"), expected);
        }
        let map = BTreeMap::from([(vec![1], true)]);
        let error = write("result", &(1, map)).map_err(shown).expect_err("a key that is a list");
        assert_eq!(error, "result does not fit at `[1]`: a key of a map must be a string");
        assert_eq!(
            write("result", &f32::NAN).map_err(shown).expect_err("not finite"),
            "result does not fit at `.`: JSON has no NaN"
        );
    }

    #[test]
    fn reads() {
        let raw = |text: &str| RawValue::from_string(text.to_owned()).expect("JSON");
        let text = raw(r#"{"items":[{"price":1},{"price":"x"}]}"#);
        let error = read::<Order>("payload", Some(&text)).expect_err("a text is no price");
        assert_eq!(error.path, "items[1].price");
        assert_eq!(read::<Option<u8>>("payload", None), Ok(None));
        assert_eq!(read("payload", Some(&raw("9007199254740993"))), Ok(9_007_199_254_740_993_u64));
        let exact: Box<RawValue> = read("payload", Some(&raw("1e400"))).expect("any JSON");
        assert_eq!(exact.get(), "1e400");
    }
}
