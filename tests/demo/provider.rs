//! `halyard demo-provider`: the payment provider as a program of its own.

use std::io::{BufRead as _, BufReader};
use std::process::{Child, ChildStdout, Command, Stdio};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

/// The running provider; it ends with the test.
struct Running {
    process: Child,
    output: BufReader<ChildStdout>,
    url: String,
}

impl Running {
    fn start() -> Self {
        let mut process = Command::new(halyard_tests::server::binary())
            .args(["demo-provider", "--listen", "127.0.0.1:0"])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut output = BufReader::new(process.stdout.take().unwrap());
        let mut line = String::new();
        output.read_line(&mut line).unwrap();
        let url = line.trim().strip_prefix("listening on ").expect(&line).to_owned();
        Self { process, output, url }
    }

    fn call(&self, path: &str, arguments: &[&str]) -> Value {
        let output = Command::new("curl")
            .args(["--silent", "--show-error", "--noproxy", "*"])
            .args(arguments)
            .arg(format!("{}{path}", self.url))
            .output()
            .unwrap();
        serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{output:?}"))
    }

    fn charge(&self) -> Value {
        let bearer = "Authorization: Bearer sk_test_halyard_demo";
        let key = "Idempotency-Key: job_3Rk9Tq7Xw2";
        let form = "amount=4800&currency=eur&customer=cus_1";
        self.call("/v1/charges", &["-H", bearer, "-H", key, "-d", form])
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[test]
fn the_provider_runs_by_itself_and_charges_once_for_a_key() {
    let mut provider = Running::start();
    let script = ["-X", "PUT", "-H", "Content-Type: application/json", "-d", "{}"];
    assert_eq!(provider.call("/test/customers/cus_1", &script)["id"], json!("cus_1"));

    let (first, second) = (provider.charge(), provider.charge());
    assert_eq!(first["amount"], json!(4800), "{first}");
    assert_eq!(first["id"], second["id"]);
    assert_eq!(provider.call("/test/charges", &[]).as_array().map(Vec::len), Some(1));

    let pid = Pid::from_child(&provider.process);
    kill_process(pid, Signal::TERM).unwrap();
    assert!(provider.process.wait().unwrap().success());
    let mut rest = String::new();
    assert_eq!(provider.output.read_line(&mut rest).unwrap(), 0, "{rest}");
}
