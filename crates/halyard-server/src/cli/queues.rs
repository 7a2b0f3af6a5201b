//! `halyard queues`: look at queues, pause them, let them go on.

use std::process::ExitCode;

use halyard::api::queues::{Queue, QueuesAnswer};
use halyard::{Halyard, State};
use halyard_core::name::check_name;

use super::failure::Failure;
use super::remote::Remote;
use super::screen::{Cell, Colour, Screen, Table, clean, counted};
use super::span::rough;

/// Look at queues, pause them, let them go on.
#[derive(Debug, clap::Args)]
#[command(after_long_help = "\
Examples:
  halyard queues list
  halyard queues pause billing")]
pub struct Args {
    #[command(flatten)]
    remote: Remote,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, clap::Subcommand)]
enum Command {
    /// List the queues with their jobs by state, and how many workers take from each.
    List,
    /// Make workers pass a queue by; what runs goes on. A queue that is not there is made.
    Pause(Name),
    /// Let workers take from a queue again.
    Resume(Name),
}

#[derive(Debug, clap::Args)]
struct Name {
    /// The queue.
    #[arg(value_name = "QUEUE")]
    name: String,
}

impl Name {
    /// A name that no queue can have is not looked for.
    fn check(&self) -> Result<(), Failure> {
        check_name(&self.name).map_err(|fault| {
            Failure::usage(format!("no queue is called `{}`: a name {fault}", clean(&self.name)))
        })
    }
}

/// Does it.
///
/// # Errors
/// The server refuses or cannot be reached.
pub fn run(args: Args) -> anyhow::Result<ExitCode> {
    let command = args.command;
    args.remote.run(|client, screen| async move {
        match command {
            Command::List => list(&client, &screen).await?,
            Command::Pause(queue) => {
                queue.check()?;
                let queue = client.queues().pause(&queue.name).await?;
                changed(&queue, &screen)?;
            }
            Command::Resume(queue) => {
                queue.check()?;
                let queue = client.queues().resume(&queue.name).await?;
                changed(&queue, &screen)?;
            }
        }
        Ok(ExitCode::SUCCESS)
    })
}

async fn list(client: &Halyard, screen: &Screen) -> anyhow::Result<()> {
    let queues = client.queues().list().await?;
    if screen.is_json() {
        screen.json(&QueuesAnswer { data: queues })?;
    } else if queues.is_empty() {
        screen.lines("no queues: the first job makes one")?;
    } else {
        screen.lines(&table(&queues, screen).show())?;
    }
    Ok(())
}

fn table(queues: &[Queue], screen: &Screen) -> Table {
    let states = State::ALL.iter().map(|state| format!("{}>", state.as_str().to_uppercase()));
    let headings: Vec<String> = ["QUEUE".to_owned()]
        .into_iter()
        .chain(states)
        .chain(["OLDEST>", "WORKERS>"].map(str::to_owned))
        .collect();
    let headings: Vec<&str> = headings.iter().map(String::as_str).collect();
    let mut table = Table::new(&headings, screen.style);
    for queue in queues {
        let paused = if queue.paused { " (paused)" } else { "" };
        let name = Cell::new(format!("{}{paused}", queue.name));
        let counts = State::ALL.iter().map(|state| match queue.counts.of(*state) {
            0 => Cell::new("0").paint(Colour::Faint),
            count => Cell::new(count.to_string()).paint(Colour::of(*state)),
        });
        let oldest = queue.oldest_queued_at.map(|at| rough(screen.now.saturating_sub(at.as_ms())));
        table.row(
            [name.paint(queue.paused.then_some(Colour::Yellow))]
                .into_iter()
                .chain(counts)
                .chain([oldest.unwrap_or_default(), queue.workers.to_string()].map(Cell::new)),
        );
    }
    table
}

fn changed(queue: &Queue, screen: &Screen) -> anyhow::Result<()> {
    if screen.is_json() {
        return Ok(screen.json(queue)?);
    }
    let name = clean(&queue.name);
    let waiting = counted(queue.counts.queued, "waiting job");
    Ok(screen.lines(&if queue.paused {
        format!("{name} is paused, with {waiting}; {} running", queue.counts.running)
    } else {
        format!("{name} goes on, with {waiting} and {}", counted(queue.workers, "worker"))
    })?)
}
