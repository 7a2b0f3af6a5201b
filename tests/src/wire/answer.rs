//! What came back, and what a test asks of it.

use serde_json::Value;

/// A whole answer.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The HTTP status.
    pub status: u16,
    /// The headers, names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body, with any transfer coding undone.
    pub body: Vec<u8>,
}

impl Answer {
    /// The first header of this name, which is given in lower case.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(own, _)| own == name).map(|(_, value)| value.as_str())
    }

    /// The body as JSON; `null` when it is empty.
    ///
    /// # Panics
    ///
    /// When the body is not JSON.
    pub fn json(&self) -> Value {
        if self.body.is_empty() {
            return Value::Null;
        }
        serde_json::from_slice(&self.body)
            .unwrap_or_else(|error| panic!("{error} in the body of {self:?}"))
    }

    /// The body as text, for messages.
    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// The error code of a refusal, empty where there is none.
    pub fn code(&self) -> String {
        let body = serde_json::from_slice::<Value>(&self.body).unwrap_or(Value::Null);
        body["code"].as_str().unwrap_or_default().to_owned()
    }

    /// The JSON body of an answer that must have this status.
    ///
    /// # Panics
    ///
    /// When it has another; the message shows the body.
    #[track_caller]
    pub fn expect(self, status: u16) -> Value {
        assert_eq!(self.status, status, "{}", self.text());
        self.json()
    }

    /// Asserts a refusal with this status and code, made as a problem document, and returns it.
    ///
    /// # Panics
    ///
    /// When status, code or content type differ.
    #[track_caller]
    pub fn refused(self, status: u16, code: &str) -> Value {
        assert_eq!((self.status, self.code().as_str()), (status, code), "{}", self.text());
        assert_eq!(self.header("content-type"), Some("application/problem+json"));
        self.json()
    }
}
