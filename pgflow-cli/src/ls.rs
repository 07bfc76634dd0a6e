//! `pgflow ls`.

use clap::Args;
use pgflow_runtime::backend::{JobDepths, NeedDepth, RunQuery, RunSummary, WorkerQuery};
use pgflow_runtime::{Db, RunId, Timestamp, WorkerId};
use serde_json::{Value, json};

use crate::database::{
    COUNTED, Filter, Reach, Table, Times, flat, shapes, spoken, warn_of_unknown,
};
use crate::error::Error;
use crate::{hooks, job, out, schedule};

/// What chooses among runs, and would be ignored elsewhere.
const OF_RUNS: [&str; 3] = ["flow", "status", "since"];
/// The same where there are no pages either: all of them are listed.
const OF_PAGES: [&str; 5] = ["flow", "status", "since", "after", "limit"];

/// What to list.
#[expect(clippy::struct_excessive_bools, reason = "flags of a command line")]
#[derive(Args)]
#[command(after_help = "\
Examples:
  pgflow ls --flow order --status failed --since 7d
  pgflow ls --jobs
  pgflow ls --queues
  pgflow ls --hooks
  pgflow ls --workers --json")]
pub(crate) struct Ls {
    #[command(flatten)]
    reach: Reach,

    #[command(flatten)]
    filter: Filter,

    /// How many.
    #[arg(long, value_name = "N", default_value = "50", value_parser = clap::value_parser!(u32).range(1..=1000))]
    limit: u32,

    /// Go on after a page: what the last one ended with.
    #[arg(long, value_name = "CURSOR")]
    after: Option<String>,

    /// List live jobs instead; `pgflow job ls` can tell them apart.
    #[arg(long, group = "what", conflicts_with_all = OF_RUNS)]
    jobs: bool,

    /// List versions of flows instead.
    #[arg(long, group = "what", conflicts_with_all = OF_PAGES)]
    flows: bool,

    /// List what waits for each version of a flow, and for each need of jobs, instead.
    #[arg(long, group = "what", conflicts_with_all = OF_PAGES)]
    queues: bool,

    /// List schedules instead.
    #[arg(long, group = "what", conflicts_with_all = OF_PAGES)]
    schedules: bool,

    /// List workers that are there instead; with `--all`, also those that are gone.
    #[arg(long, group = "what", conflicts_with_all = OF_RUNS)]
    workers: bool,

    /// List tasks that wait for an answer, a moment, runs or jobs instead, with the tokens of hooks.
    #[arg(long, group = "what", conflicts_with_all = OF_RUNS)]
    hooks: bool,

    /// Also workers that are gone.
    #[arg(long, requires = "workers")]
    all: bool,
}

fn parse_cursor(text: &str) -> Result<(Timestamp, RunId), Error> {
    let parts = text.split_once('.').and_then(|(micros, run)| {
        Some((Timestamp::from_micros(micros.parse().ok()?), run.parse().ok()?))
    });
    parts.ok_or_else(|| Error::Usage("that is not what a page ended with".to_owned()))
}

fn parse_worker(text: &str) -> Result<WorkerId, Error> {
    let id = text.parse().map(WorkerId);
    id.map_err(|_| Error::Usage("that is not what a page of workers ended with".to_owned()))
}

fn cursor(query: &RunQuery) -> Option<String> {
    query.after.map(|(at, run)| format!("{}.{run}", at.micros()))
}

pub(crate) async fn run(command: &Ls) -> Result<bool, Error> {
    let db = command.reach.open().await?;
    let times = command.reach.times(&db).await?;
    if command.jobs {
        let (all, after) = (job::Filter::default(), command.after.as_deref());
        job::list(&db, &command.reach, &all, command.limit, after).await?;
    } else if command.flows {
        flows(command, &db, &times).await?;
    } else if command.queues {
        queues(command, &db).await?;
    } else if command.schedules {
        schedule::list(&db, &command.reach, &times, None).await?;
    } else if command.workers {
        workers(command, &db, &times).await?;
    } else if command.hooks {
        let after = command.after.as_deref();
        hooks::list(&db, &command.reach, &times, command.limit, after).await?;
    } else {
        runs(command, &db, &times).await?;
    }
    Ok(true)
}

async fn runs(command: &Ls, db: &Db, times: &Times) -> Result<(), Error> {
    warn_of_unknown(db, &command.filter.flow).await?;
    let mut query = command.filter.query(times.now, command.limit);
    query.after = command.after.as_deref().map(parse_cursor).transpose()?;
    let page = db.list(&query).await?;
    let next = page.next.as_ref().and_then(cursor);
    if command.reach.json {
        let runs: Vec<Value> = page.runs.iter().map(shapes::run).collect();
        return out::json(json!({ "runs": runs, "next": next }));
    }
    let mut table = Table::new(&["run", "flow", "status", "started", "took"]);
    for run in &page.runs {
        table.row(row(run, times));
    }
    out::text(table.text())?;
    more(next, times)
}

/// How to go on.
fn more(next: Option<String>, times: &Times) -> Result<(), Error> {
    next.map_or(Ok(()), |next| out::line(times.paint.dim(&format!("more: --after {next}"))))
}

fn row(run: &RunSummary, times: &Times) -> [String; 5] {
    [
        run.id.to_string(),
        flat(&run.flow),
        times.paint.status(run.status.word()),
        times.at(run.started_at),
        times.took(run.started_at, run.ended_at),
    ]
}

async fn flows(command: &Ls, db: &Db, times: &Times) -> Result<(), Error> {
    let flows = db.flows().await?;
    if command.reach.json {
        return out::json(json!({ "flows": flows.iter().map(shapes::flow).collect::<Vec<_>>() }));
    }
    let mut table = Table::new(&["flow", "version", "slug", "steps", "since", ""]);
    for flow in &flows {
        table.row([
            flat(&flow.flow),
            flow.version.to_string(),
            flat(&flow.slug),
            flow.steps.to_string(),
            flow.created_at.map(|at| times.at(at)).unwrap_or_default(),
            if flow.is_current { "current".to_owned() } else { String::new() },
        ]);
    }
    out::text(table.text())
}

async fn queues(command: &Ls, db: &Db) -> Result<(), Error> {
    let queues = db.queues().await?;
    let (needs, is_part) = if db.has_jobs() { needs(db).await? } else { (Vec::new(), false) };
    if command.reach.json {
        let queues: Vec<_> = queues.iter().map(shapes::queue).collect();
        let needs: Vec<_> =
            needs.iter().map(|(need, is_paused)| job::shapes::need(need, *is_paused)).collect();
        return out::json(json!({ "queues": queues, "needs": needs, "is_part": is_part }));
    }
    let mut table = Table::new(&["flow", "ready", "delayed", "running", "oldest ready"]);
    for queue in &queues {
        table.row([
            flat(&queue.slug),
            queue.ready.to_string(),
            queue.delayed.to_string(),
            queue.running.to_string(),
            queue.oldest_ready.map(spoken).unwrap_or_default(),
        ]);
    }
    // A database may have flows, or jobs, or both.
    if !queues.is_empty() || needs.is_empty() {
        out::text(table.text())?;
    }
    if !queues.is_empty() && !needs.is_empty() {
        out::line("")?;
    }
    if !needs.is_empty() {
        out::text(need_table(&needs).text())?;
    }
    if is_part {
        out::line(format_args!("there are more live jobs: {COUNTED} were counted"))?;
    }
    Ok(())
}

/// Needs of jobs, and whether they are paused: those too that no job has. And whether there are more jobs than were counted.
async fn needs(db: &Db) -> Result<(Vec<(NeedDepth, bool)>, bool), Error> {
    let JobDepths { mut needs, is_part, .. } = db.job_depths_of(COUNTED).await?;
    let paused: Vec<_> = db.paused_needs().await?.into_iter().map(|paused| paused.need).collect();
    let is_new = |need: &&String| needs.iter().all(|known| known.need != **need);
    let queues: Vec<_> = db.paused_queues().await?.into_iter().map(|paused| paused.need).collect();
    let idle = queues.iter().filter(is_new).cloned();
    let idle: Vec<_> = idle.map(|need| NeedDepth { need, ..NeedDepth::default() }).collect();
    needs.extend(idle);
    needs.sort_by(|a, b| a.need.cmp(&b.need));
    let with_pause = |need: NeedDepth| {
        let is_paused = paused.contains(&need.need);
        (need, is_paused)
    };
    Ok((needs.into_iter().map(with_pause).collect(), is_part))
}

fn need_table(needs: &[(NeedDepth, bool)]) -> Table {
    let titles =
        ["need", "ready", "sleeping", "waiting", "parked", "running", "concern", "first ready", ""];
    let mut table = Table::new(&titles);
    for (need, is_paused) in needs {
        let waiting = [need.ready, need.sleeping, need.waiting, need.parked];
        let mut row = vec![flat(&need.need)];
        row.extend(waiting.iter().chain([&need.running, &need.concern]).map(u64::to_string));
        row.push(need.first_ready.map(spoken).unwrap_or_default());
        row.push(if *is_paused { "paused".to_owned() } else { String::new() });
        table.row(row);
    }
    table
}

async fn workers(command: &Ls, db: &Db, times: &Times) -> Result<(), Error> {
    let after = command.after.as_deref().map(parse_worker).transpose()?;
    let query = WorkerQuery { with_gone: command.all, after, max: command.limit };
    let workers = db.workers(&query).await?;
    let is_full = workers.len() >= command.limit as usize;
    let next = workers.last().filter(|_| is_full).map(|last| last.id.0.to_string());
    if command.reach.json {
        let workers: Vec<_> =
            workers.iter().map(|worker| shapes::worker(worker, times.now)).collect();
        return out::json(json!({ "workers": workers, "next": next }));
    }
    let mut table =
        Table::new(&["worker", "host", "pid", "running", "slots", "since", "seen", "serves"]);
    for worker in &workers {
        let number = |number: Option<u32>| number.map(|it| it.to_string()).unwrap_or_default();
        table.row([
            worker.id.0.to_string(),
            flat(worker.host.as_deref().unwrap_or_default()),
            number(worker.pid),
            worker.running.to_string(),
            number(worker.slots),
            times.at(worker.started_at),
            match worker.stopped_at {
                Some(at) => format!("stopped {}", times.at(at)),
                None if worker.is_lost(times.now) => {
                    format!("silent since {}", times.at(worker.seen_at))
                }
                None => times.at(worker.seen_at),
            },
            flat(&worker.serves()),
        ]);
    }
    out::text(table.text())?;
    more(next, times)
}
