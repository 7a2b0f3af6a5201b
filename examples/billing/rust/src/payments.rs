//! The payment provider: a small client of Stripe's wire, enough to charge a card.
//!
//! Bodies are forms, answers JSON, and the idempotency key is a header. Stripe makes no client for
//! Rust; in Node.js and Python the example uses the one that it makes.
//!
//! Source: <https://docs.stripe.com/api/charges/create>.

use std::fmt;
use std::time::Duration;

use async_trait::async_trait;
use halyard::{HandlerError, HttpStatus};
use reqwest::header::{CONTENT_TYPE, RETRY_AFTER};
use reqwest::{RequestBuilder, Response};
use serde::Deserialize;

/// The address and the key of `halyard demo-provider`, so that nobody is charged by an example.
const DEMO_URL: &str = "http://127.0.0.1:7374";
const DEMO_SECRET_KEY: &str = "sk_test_halyard_demo";
/// How long an answer may take; Stripe's own clients wait as long.
const TIMEOUT: Duration = Duration::from_secs(80);

/// What takes money.
#[async_trait]
pub trait Payments: Send + Sync {
    /// Charges a customer's card. The same key again gets the first call's answer, and charges
    /// nothing.
    ///
    /// # Errors
    ///
    /// [`Refusal`], or what broke the connection.
    async fn charge(
        &self,
        charge: &NewCharge,
        idempotency_key: &str,
    ) -> Result<Charge, HandlerError>;
}

/// Whose card to charge, and how much.
#[derive(Debug)]
pub struct NewCharge {
    /// The provider's id of the customer.
    pub customer: String,
    /// In the currency's smallest unit.
    pub amount: i32,
    /// Three small letters.
    pub currency: &'static str,
}

/// Money taken, or the record of it.
#[derive(Debug, Deserialize)]
pub struct Charge {
    /// `ch_…`.
    pub id: String,
}

/// Who can be charged.
#[derive(Debug, Deserialize)]
pub struct Customer {
    /// `cus_…`.
    pub id: String,
}

/// The provider said no. Its cause is the [`HttpStatus`], so the worker knows what to do: a
/// declined card (402) fails the job at once, a rate limit (429) is waited for as long as its
/// `Retry-After` asks.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct Refusal {
    message: String,
    #[source]
    status: HttpStatus,
}

/// Stripe, or what speaks its wire.
#[derive(Clone)]
pub struct Stripe {
    http: reqwest::Client,
    url: String,
    secret_key: String,
}

impl Stripe {
    /// A client of the provider at `url`, such as `https://api.stripe.com`.
    ///
    /// # Errors
    ///
    /// When no client can be made.
    pub fn new(url: &str, secret_key: &str) -> reqwest::Result<Self> {
        // Another part of the program may have chosen one before, which is as good.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let mut http = reqwest::Client::builder().timeout(TIMEOUT);
        if url.starts_with("http://127.0.0.1") {
            http = http.no_proxy();
        }
        let url = url.trim_end_matches('/').to_owned();
        Ok(Self { http: http.build()?, url, secret_key: secret_key.to_owned() })
    }

    /// The provider that `STRIPE_API_URL` and `STRIPE_SECRET_KEY` name; `halyard demo-provider`
    /// when they are not set.
    ///
    /// # Errors
    ///
    /// When no client can be made.
    pub fn from_env() -> reqwest::Result<Self> {
        let setting =
            |name: &str, default: &str| std::env::var(name).unwrap_or_else(|_| default.to_owned());
        let secret_key = setting("STRIPE_SECRET_KEY", DEMO_SECRET_KEY);
        Self::new(&setting("STRIPE_API_URL", DEMO_URL), &secret_key)
    }

    /// A customer with a card, for instance the test card `tok_visa`.
    ///
    /// # Errors
    ///
    /// [`Refusal`], or what broke the connection.
    pub async fn add_customer(&self, source: &str) -> Result<Customer, HandlerError> {
        let form =
            form_urlencoded::Serializer::new(String::new()).append_pair("source", source).finish();
        Ok(self.send(self.post("customers", form)).await?.json().await?)
    }

    /// The newest charges, at most 100.
    ///
    /// # Errors
    ///
    /// [`Refusal`], or what broke the connection.
    pub async fn charges(&self) -> Result<Vec<Charge>, HandlerError> {
        let request = self.http.get(format!("{}/v1/charges?limit=100", self.url));
        let list: List = self.send(request).await?.json().await?;
        Ok(list.data)
    }

    fn post(&self, what: &str, form: String) -> RequestBuilder {
        let request = self.http.post(format!("{}/v1/{what}", self.url));
        request.header(CONTENT_TYPE, "application/x-www-form-urlencoded").body(form)
    }

    async fn send(&self, request: RequestBuilder) -> Result<Response, HandlerError> {
        let answer = request.bearer_auth(&self.secret_key).send().await?;
        let retry_after = answer.headers().get(RETRY_AFTER).and_then(|value| value.to_str().ok());
        match HttpStatus::check(answer.status().as_u16(), retry_after) {
            Ok(()) => Ok(answer),
            Err(status) => Err(refusal(answer, status).await.into()),
        }
    }
}

#[async_trait]
impl Payments for Stripe {
    async fn charge(
        &self,
        charge: &NewCharge,
        idempotency_key: &str,
    ) -> Result<Charge, HandlerError> {
        let form = form_urlencoded::Serializer::new(String::new())
            .append_pair("customer", &charge.customer)
            .append_pair("amount", &charge.amount.to_string())
            .append_pair("currency", charge.currency)
            .finish();
        let request = self.post("charges", form).header("Idempotency-Key", idempotency_key);
        Ok(self.send(request).await?.json().await?)
    }
}

impl fmt::Debug for Stripe {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Stripe").field("url", &self.url).finish_non_exhaustive()
    }
}

#[derive(Deserialize)]
struct List {
    data: Vec<Charge>,
}

#[derive(Deserialize)]
struct ErrorBody {
    error: Reason,
}

#[derive(Deserialize)]
struct Reason {
    message: String,
}

async fn refusal(answer: Response, status: HttpStatus) -> Refusal {
    let message = match answer.json::<ErrorBody>().await {
        Ok(body) => body.error.message,
        Err(_) => status.to_string(),
    };
    Refusal { message, status }
}
