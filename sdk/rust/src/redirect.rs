//! Answers that send the caller elsewhere, which no call of this API does.

use reqwest::Url;

/// What to say about an answer with this status to a call of `url`; `None` when it does not
/// redirect. Of the target no more is told than its scheme and host: the rest may hold secrets, and
/// is of no use.
pub(crate) fn redirection(status: u16, url: &Url, location: Option<&str>) -> Option<String> {
    if !matches!(status, 301 | 302 | 303 | 307 | 308) {
        return None;
    }
    let target = location.and_then(|location| url.join(location).ok());
    let target = target.filter(|target| matches!(target.scheme(), "http" | "https"));
    let Some(target) = target.map(|target| target.origin()) else {
        return Some("it redirects to nowhere that can be read".to_owned());
    };
    let origin = target.ascii_serialization();
    Some(if target == url.origin() {
        format!(
            "it redirects to another page of {origin}, so what answers there is no Halyard server"
        )
    } else {
        format!("it redirects to {origin}; give that as the server's address")
    })
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    #[test]
    fn redirections() {
        let file = include_str!("../../scenarios/redirects.json");
        let table: Value = serde_json::from_str(file).expect("the table");
        let rows = table.get("redirects").and_then(Value::as_array).expect("rows");
        assert!(rows.len() >= 10);
        for row in rows {
            let text = |name: &str| row.get(name).and_then(Value::as_str);
            let url = text("url").expect("an address").parse().expect("a URL");
            let status = row.get("status").and_then(Value::as_u64).expect("a status");
            let status = u16::try_from(status).expect("a status");
            let told = redirection(status, &url, text("location"));
            assert_eq!(told.as_deref(), text("told"), "{row}");
        }
    }
}
