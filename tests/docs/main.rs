//! What the documentation tells people to type works as it is written: every `curl` is run, in the
//! order of its page, against a server of its own, and the answer that the page shows below it is
//! compared with the real one.
//!
//! On a page, `…` within a string stands for anything, and an object may show some of its members
//! only. `job_…` and `"…"` in a command, or `$JOB` and `$TOKEN`, stand for the id and the token
//! that an answer gave last, which the text tells the reader to put there.
//!
//! The pages on PostgreSQL are run by [`postgres`], command by command.

mod postgres;

use std::path::Path;
use std::process::{Command, Stdio};

use halyard_tests::server::{Server, Setup};
use serde_json::Value;

/// The commands of a page, each with the answer that it shows.
struct Page {
    name: &'static str,
    steps: Vec<(String, Option<String>)>,
}

impl Page {
    fn read(name: &'static str) -> Self {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(name);
        let text = std::fs::read_to_string(path).expect(name);
        let mut steps: Vec<(String, Option<String>)> = Vec::new();
        let mut lines = text.lines();
        while let Some(line) = lines.next() {
            let Some(language) = line.strip_prefix("```").filter(|rest| !rest.is_empty()) else {
                continue;
            };
            let block: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
            let block = block.join("\n");
            match (language, steps.last_mut()) {
                ("sh", _) if block.starts_with("curl") => steps.push((block, None)),
                ("json", Some((_, answer @ None))) => *answer = Some(block),
                _ => {}
            }
        }
        Self { name, steps }
    }

    /// Runs everything and gives how many answers were compared.
    fn check(&self) -> usize {
        self.check_on(&Server::start(), "")
    }

    /// The same on a server with this key.
    fn check_on(&self, server: &Server, key: &str) -> usize {
        let (mut job, mut token) = (String::new(), String::new());
        let mut compared = 0;
        for (command, wanted) in &self.steps {
            let command = command
                .replace("http://127.0.0.1:7373", &format!("http://{}", server.address()))
                .replace("job_…", &job)
                .replace("\"token\": \"…\"", &format!("\"token\": \"{token}\""));
            let output = Command::new("bash")
                .args(["-euc", &command])
                .env("JOB", &job)
                .env("TOKEN", &token)
                .env("ADMIN_KEY", key)
                .env("no_proxy", "*")
                .stdin(Stdio::null())
                .output()
                .expect("bash and curl are there");
            let place = format!("{}: {command}\n{output:?}", self.name);
            assert!(output.status.success(), "{place}");
            let answer: Value = serde_json::from_slice(&output.stdout).expect(&place);
            match wanted {
                Some(wanted) => {
                    let wanted = serde_json::from_str(wanted).expect(&place);
                    compare(&wanted, &answer, &place);
                    compared += 1;
                }
                None => assert!(answer.get("code").is_none(), "{place}"),
            }
            remember(&answer, &mut job, &mut token);
        }
        compared
    }
}

/// What the page shows is what was answered.
fn compare(shown: &Value, given: &Value, place: &str) {
    match (shown, given) {
        (Value::Object(shown), Value::Object(given)) => {
            for (name, shown) in shown {
                let given = given.get(name).unwrap_or_else(|| panic!("no {name} in {place}"));
                compare(shown, given, place);
            }
        }
        (Value::Array(shown), Value::Array(given)) => {
            assert_eq!(shown.len(), given.len(), "{place}");
            for (shown, given) in shown.iter().zip(given) {
                compare(shown, given, place);
            }
        }
        (Value::String(shown), Value::String(given)) if shown.contains('…') => {
            let (start, end) = shown.split_once('…').expect("it has one");
            let fits = given.starts_with(start) && given.ends_with(end);
            assert!(fits, "{shown} is shown, {given} was given: {place}");
        }
        (shown, given) => assert_eq!(shown, given, "{place}"),
    }
}

/// Keeps the last id of a job and the last token.
fn remember(answer: &Value, job: &mut String, token: &mut String) {
    match answer {
        Value::Object(members) => {
            for (name, member) in members {
                match (name.as_str(), member) {
                    ("id", Value::String(id)) if id.starts_with("job_") => job.clone_from(id),
                    ("token", Value::String(given)) => token.clone_from(given),
                    (_, member) => remember(member, job, token),
                }
            }
        }
        Value::Array(elements) => {
            elements.iter().for_each(|element| remember(element, job, token));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

#[test]
fn the_first_job_in_five_minutes() {
    let page = Page::read("README.md");
    assert!(page.steps.len() >= 3, "{} commands", page.steps.len());
    page.check();
}

#[test]
fn keys_and_roles() {
    let page = Page::read("docs/operations/access.md");
    let key = "the-key-of-an-admin";
    let server = Setup::new().env("HALYARD_API_KEY", key).start();
    assert_eq!(page.check_on(&server, key), 3, "each answer is compared");
}

#[test]
fn the_reference_of_the_http_api() {
    let page = Page::read("docs/reference/http.md");
    assert_eq!(page.check(), page.steps.len(), "a command shows no answer");
    assert!(page.steps.len() >= 8, "{} commands", page.steps.len());
}
