//! A small client of Stripe's wire: enough to charge a card. Bodies are forms, answers JSON, and
//! the `Idempotency-Key` is a header.

use halyard::{HandlerError, HttpStatus, NonRetryable, RetryAfter};
use http::header::{AUTHORIZATION, CONTENT_TYPE, RETRY_AFTER};
use serde::Deserialize;

use super::crash::CrashPoint;

/// A client of the payment provider.
#[derive(Debug)]
pub(super) struct Payments {
    http: reqwest::Client,
    url: String,
    secret_key: String,
    crash: CrashPoint,
    /// Whether charges carry their key. A sabotaged worker leaves it out.
    keyed: bool,
}

/// Money taken, or the record of it.
#[derive(Debug, Deserialize)]
pub(super) struct Charge {
    pub(super) id: String,
}

#[derive(Debug, Deserialize)]
struct Refusal {
    error: Reason,
}

#[derive(Debug, Deserialize)]
struct Reason {
    message: String,
}

impl Payments {
    /// A client of the provider at `url`, such as `http://127.0.0.1:4242`.
    pub(super) fn new(
        url: String,
        secret_key: &str,
        crash: CrashPoint,
        keyed: bool,
    ) -> reqwest::Result<Self> {
        let http = reqwest::Client::builder().http1_only().no_proxy().build()?;
        Ok(Self { http, url, secret_key: secret_key.to_owned(), crash, keyed })
    }

    /// Charges a customer's card. The same key again gets the first call's answer, and charges
    /// nothing.
    ///
    /// # Errors
    ///
    /// [`NonRetryable`] when the card is declined, [`RetryAfter`] when the provider asks for
    /// patience, otherwise the HTTP status or what broke the connection.
    pub(super) async fn charge(
        &self,
        customer: &str,
        amount: u32,
        currency: &str,
        idempotency_key: &str,
    ) -> Result<Charge, HandlerError> {
        let form = form_urlencoded::Serializer::new(String::new())
            .append_pair("customer", customer)
            .append_pair("amount", &amount.to_string())
            .append_pair("currency", currency)
            .finish();
        let mut request = self
            .http
            .post(format!("{}/v1/charges", self.url))
            .header(AUTHORIZATION, format!("Bearer {}", self.secret_key))
            .header(CONTENT_TYPE, "application/x-www-form-urlencoded")
            .body(form);
        if self.keyed {
            request = request.header("Idempotency-Key", idempotency_key);
        }
        let answer = request.send().await?;
        if answer.status().is_success() {
            let charge = answer.json().await?;
            self.crash.reach(&CrashPoint::after_charge_of(customer)).await;
            return Ok(charge);
        }
        Err(refusal(answer).await)
    }
}

async fn refusal(answer: reqwest::Response) -> HandlerError {
    let status = answer.status().as_u16();
    let retry_after = answer.headers().get(RETRY_AFTER).and_then(|value| value.to_str().ok());
    let Err(http) = HttpStatus::check(status, retry_after) else {
        return format!("an answer {status} to a charge").into();
    };
    let message = match answer.json::<Refusal>().await {
        Ok(refusal) => refusal.error.message,
        Err(_) => http.to_string(),
    };
    match (status, http.retry_after()) {
        (402, _) => NonRetryable::new(message).into(),
        (429, Some(delay)) => RetryAfter::new(delay).because(http).into(),
        _ => http.into(),
    }
}
