//! Transactions of steps that can never be committed.

use pgflow::RunStatus;

use crate::flows::promise;
use crate::harness::{Kind, Lab, Metrics, Outcome, What};
use crate::{ensure, metrics};

const FLOWS: &[&str] = &["promise"];
/// What is checked at the end of a transaction: a trigger that says to try again, and a reference to nothing.
const POSTGRES: &str = "
  create function never() returns trigger language plpgsql as
    $$ begin raise exception 'try again' using errcode = 'serialization_failure'; end $$;
  create constraint trigger never after insert on effects deferrable initially deferred
    for each row execute function never()";
const SQLITE: &str = "
  drop table effects;
  create table anything (id integer primary key);
  create table effects (item bigint not null references anything (id) deferrable initially deferred,
                        attempt bigint not null)";

/// X25: each attempt counts, the next one waits, and after the last the run has failed.
pub(super) async fn never(lab: &mut Lab, kind: Kind) -> Outcome<Metrics> {
    let base = lab.base(kind, FLOWS).await?;
    base.execute(if kind == Kind::Postgres { POSTGRES } else { SQLITE }).await?;
    let run = base.db.start(promise::Flow, &1).await?;
    let worker = lab.worker(&base.url, FLOWS).start()?;
    let status = run.wait().await?;
    ensure!(status == RunStatus::Failed, "the run is {status:?}");
    let entries = lab.journal.read()?;
    let began: Vec<u64> =
        entries.iter().filter(|it| it.what == What::Entered).map(|it| it.at).collect();
    ensure!(began.len() == 2, "the step ran {} times instead of 2", began.len());
    let pause = began[1] - began[0];
    ensure!(pause >= 900, "the second attempt came after {pause} ms");
    let effects = base.effects().await?.len();
    ensure!(effects == 0, "{effects} effects of attempts that failed");
    let end = worker.stop().await?;
    ensure!(end.lost == 0, "the worker says {end:?}");
    Ok(metrics! { "attempts": began.len(), "milliseconds_between": pause })
}
