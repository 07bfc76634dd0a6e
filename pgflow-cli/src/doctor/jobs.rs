//! Whether jobs go on.

use pgflow_runtime::Db;
use pgflow_runtime::backend::{Checkup, NeedDepth, Severity, WorkerRecord};

use super::{LATE, UNSERVED};
use crate::database::spoken;
use crate::error::Error;

/// Looks at what waits, and for whom. Others than our workers serve the needs that are `external`.
pub(super) async fn look(
    db: &Db,
    alive: &[&WorkerRecord],
    external: &[String],
    checkup: &mut Checkup,
) -> Result<(), Error> {
    if !db.has_jobs() {
        return Ok(());
    }
    let needs = db.job_depths().await?.needs;
    checkup.fact("live_jobs", needs.iter().map(NeedDepth::live).sum::<u64>());
    let all_paused = db.paused_needs().await?;
    for need in &needs {
        concern(need, checkup);
        if all_paused.iter().any(|paused| paused.need == need.need) {
            paused(need, checkup);
            continue;
        }
        let serving = alive.iter().filter(|worker| worker.serves_need(&need.need)).count();
        // What somebody has is served by somebody.
        let is_external = external.contains(&need.need) || need.running > 0;
        if serving > 0 {
            late(need, checkup);
        } else if !is_external {
            unserved(need, checkup);
        }
    }
    Ok(())
}

fn concern(need: &NeedDepth, checkup: &mut Checkup) {
    if need.concern == 0 {
        return;
    }
    let what = format!(
        "{} jobs of `{}` have lost too many workers in a row, and are not leased any more",
        need.concern, need.need
    );
    let fix = "see which with `pgflow job ls --status concern`; then `pgflow job clear` or `pgflow job cancel`";
    checkup.find("crash-concern", Severity::Error, what, fix);
}

/// Somebody may have forgotten it.
fn paused(need: &NeedDepth, checkup: &mut Checkup) {
    let Some(age) = need.first_ready.filter(|age| *age > LATE) else { return };
    checkup.find(
        "paused",
        Severity::Warning,
        format!(
            "`{}` is paused, and {} jobs wait for it, the first for {}",
            need.need,
            need.ready,
            spoken(age)
        ),
        format!("`pgflow queue resume {}` lets them go on", need.need),
    );
}

fn unserved(need: &NeedDepth, checkup: &mut Checkup) {
    let Some(age) = need.first_ready.filter(|age| *age > UNSERVED) else { return };
    let (name, jobs, age) = (&need.need, need.ready, spoken(age));
    checkup.find(
        "no-worker",
        Severity::Error,
        format!("{jobs} jobs need `{name}`, the first for {age}, and no worker serves it"),
        format!(
            "start a worker that has code for `{name}`, or cancel the jobs; if people or other programs serve it, say so \
             with `--external {name}`"
        ),
    );
}

fn late(need: &NeedDepth, checkup: &mut Checkup) {
    let Some(age) = need.first_ready.filter(|age| *age > LATE) else { return };
    checkup.find(
        "late",
        Severity::Warning,
        format!("the first job in line that needs `{}` has waited for {}", need.need, spoken(age)),
        "start more workers, or give them more slots",
    );
}
