//! One session of those that work on the same few runs.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use uuid::Uuid;

use super::same_runs_besides::BESIDES;
use crate::harness::{Failure, Random, Session, Task, define};

/// A flow that fails easily and has a map step, whose lock comes before that of its run.
pub(super) fn flow(map: &str) -> String {
    define("f", &["a; max_attempts => 1", map, "j after a; max_attempts => 1"])
}

/// What is done, and how often in proportion.
pub(super) type Actions<'a> = &'a [(&'static str, usize)];

pub(super) const MAINTENANCE: Actions<'static> = &[
    ("start", 6),
    ("claim", 8),
    ("complete", 3),
    ("fail", 4),
    ("both", 3),
    ("beat", 3),
    ("release", 2),
    ("retry", 8),
    ("cancel", 2),
    ("requeue", 2),
    ("prune", 2),
];

pub(super) const REPLACING: Actions<'static> = &[
    ("start", 10),
    ("claim", 14),
    ("complete", 6),
    ("fail", 6),
    ("both", 3),
    ("retry", 8),
    ("cancel", 2),
    ("requeue", 3),
    ("prune", 2),
    ("replace", 1),
    ("create", 1),
    ("options", 1),
];

/// Every function that locks anything, with attempts and without.
pub(super) fn everything() -> Vec<(&'static str, usize)> {
    let besides = BESIDES.iter().map(|(action, weight, _)| (*action, *weight));
    RUNS.iter().copied().chain(besides).collect()
}

/// What is done to runs.
const RUNS: Actions<'static> = &[
    ("start", 12),
    ("claim", 14),
    ("complete", 4),
    ("complete newest", 3),
    ("fail", 4),
    ("fail newest", 3),
    ("both", 3),
    ("both newest", 3),
    ("beat", 3),
    ("release", 3),
    ("release unknown", 2),
    ("poll", 2),
    ("two phases", 2),
    ("sweep", 2),
    ("retry", 8),
    ("cancel", 2),
    ("requeue", 2),
    ("prune", 2),
    ("cascade", 2),
    ("advance", 1),
    ("replace", 1),
    ("compile", 1),
    ("create", 1),
    ("add", 1),
    ("options", 1),
    ("versions", 1),
    ("forget", 1),
    ("announce", 2),
    ("wait", 6),
    ("signal", 4),
    ("wake", 3),
    ("abandon", 2),
];

/// What attempts end with that wait.
const WAITS: [&str; 3] = [
    r#"{"on": "hook", "token": "t", "timeout": 1}"#,
    r#"{"on": "sleep", "for": 10000}"#,
    r#"{"on": "runs", "each": true, "children": [{"flow": "f", "input": [1]}, {"flow": "f", "input": []}]}"#,
];

/// What a session may be told: no such run, a run in another state, a flow or its queue that is
/// gone for a moment, a flow that is too busy to be deleted, a step that another one has defined differently.
const EXPECTED: [&str; 6] = ["P0002", "55000", "23503", "42P01", "55P03", "P0001"];

/// Answers of a call that changed nothing.
const NOTHING: [&str; 6] = ["", "0", "unknown", "fenced", "run_ended", "lost"];

pub(super) struct Actor {
    session: Session,
    random: Random,
    starts: Arc<AtomicUsize>,
    worker: Uuid,
    held: Vec<Task>,
    pub(super) done: BTreeMap<&'static str, usize>,
}

impl Actor {
    /// `starts` counts the starts of all sessions.
    pub(super) fn new(session: Session, random: Random, starts: Arc<AtomicUsize>) -> Self {
        let worker = Uuid::now_v7();
        Self { session, random, starts, worker, held: Vec::new(), done: BTreeMap::new() }
    }

    pub(super) async fn act(&mut self, actions: Actions<'_>) {
        let action = self.pick(actions);
        let statement = self.statement(action);
        match self.session.ask(&statement).await {
            Ok(rows) => self.note(action, &rows),
            Err(Failure { code, .. }) if EXPECTED.contains(&code.as_str()) => {}
            Err(failure) => panic!("{failure}\nin {statement}"),
        }
    }

    fn pick(&mut self, actions: Actions<'_>) -> &'static str {
        let mut draw = self.random.below(actions.iter().map(|(_, weight)| weight).sum());
        for (action, weight) in actions {
            if draw < *weight {
                return action;
            }
            draw -= weight;
        }
        unreachable!("the draw is below the sum of all weights")
    }

    fn note(&mut self, action: &'static str, rows: &[String]) {
        if ["claim", "poll", "two phases", "sweep"].contains(&action) {
            self.held
                .extend(rows.iter().filter(|row| row.starts_with('{')).map(|row| Task::parse(row)));
        }
        if rows.iter().any(|row| !NOTHING.contains(&row.as_str())) {
            *self.done.entry(action).or_default() += 1;
        }
    }

    /// How it is done, this time.
    pub(super) fn statement(&mut self, action: &str) -> String {
        let run = self.run(action == "start");
        match action {
            "start" => format!(
                "select run_id from pgflow.start_run('f', '[1, 2, 3]', {run}) where created"
            ),
            "claim" => self.claim(),
            "complete" => self.settle("complete_tasks", "array_fill('[1]'::jsonb, k.size)"),
            "fail" => self.settle("fail_tasks", "array_fill('boom'::text, k.size)"),
            "complete newest" => {
                self.settle("complete_tasks", "array_fill('[1]'::jsonb, k.size)").replace("k.attempts", "null")
            }
            "fail newest" => {
                self.settle("fail_tasks", "array_fill('boom'::text, k.size)").replace("k.attempts", "null")
            }
            "both newest" => self.both().replace("k.attempts", "null").replace("x.attempts", "null"),
            "release unknown" => format!(
                "select nullif(pgflow.release_unknown_tasks('{}', array['f'], '{{}}', '{{}}', '{{}}', '{{}}'), 0)",
                self.worker
            ),
            "poll" => "select to_jsonb(t) from pgflow.poll_for_tasks('f', 1, 2, 0) t".to_owned(),
            "two phases" => "select to_jsonb(t) from pgflow.start_tasks('f',
                    (select array_agg(msg_id) from pgmq.read('f', 5, 2)), null) t"
                .to_owned(),
            "sweep" => "select to_jsonb(t) from pgflow.sweep_and_claim(0, array['f'], 2) t where flow_slug is not null".to_owned(),
            "cascade" => format!(
                "select nullif(pgflow._cascade_force_skip_steps({run}, 'm', 'condition_unmet'), 0); select pgflow.maybe_complete_run({run})"
            ),
            "advance" => format!(
                "select pgflow.start_ready_steps({run}); select pgflow.cascade_resolve_conditions({run});
                 select pgflow.cascade_complete_taskless_steps({run}); select pgflow.maybe_complete_run({run}); select 'done'"
            ),
            "compile" => r#"select pgflow.ensure_flow_compiled('f', '{"steps": [{"slug": "a"}, {"slug": "m", "stepType": "map"}]}', true)"#
                .to_owned(),
            "add" => "select step_slug from pgflow.add_step('f', 'x', array['a'])".to_owned(),
            "versions" => "select pgflow.get_flow_versions(array['f']); select flow_slug from pgflow.add_flow_version('f', 1, 'f')".to_owned(),
            "forget" => "delete from pgflow.workers where worker_id in (select worker_id from pgflow.workers limit 1) returning worker_id".to_owned(),
            "announce" => format!(
                "select token from {} pgflow.announce_hooks(k.runs, k.steps, k.indexes, k.attempts)",
                self.some()
            ),
            "wait" => {
                let wait = self.random.pick(&WAITS);
                format!(
                    "select outcome from {} pgflow.wait_tasks(k.runs, k.steps, k.indexes, k.attempts, array_fill('{wait}'::jsonb, k.size))",
                    self.some()
                )
            }
            "signal" => {
                "select outcome from pgflow.signal('t', '[1]', null, '1 second')"
                    .to_owned()
            }
            "wake" => "select woken + timed_out from pgflow.wake_waits(5)".to_owned(),
            "abandon" => "select 'done' from pgflow.cancel_abandoned(5)".to_owned(),
            "both" => self.both(),
            "beat" => self.beat(),
            "release" => format!(
                "select outcome from {} pgflow.release_tasks(k.runs, k.steps, k.indexes, k.attempts)",
                self.some()
            ),
            "retry" => "select r.status from (
                    select run_id from pgflow.runs where status = 'failed' order by random() limit 1
                ) f, pgflow.retry_run(f.run_id) r"
                .to_owned(),
            "cancel" => format!(
                "select run_id from pgflow.cancel_run({run}, 'no') where cancelled_at = now()"
            ),
            // As if all workers had been silent for a day.
            "requeue" => "update pgflow.step_tasks t set queued_at = queued_at - interval '1 day', started_at = started_at - interval '1 day',
                    lease_until = null
                 from (select run_id, step_slug, task_index from pgflow.step_tasks where status = 'started'
                        for no key update skip locked) k
                where t.run_id = k.run_id and t.step_slug = k.step_slug and t.task_index = k.task_index;
                select pgflow.requeue_stalled_tasks()".to_owned(),
            "prune" => {
                "select runs from pgflow.prune_data_older_than(interval '0', null)".to_owned()
            }
            "replace" => self.replace(),
            "create" => "select flow_slug from pgflow.create_flow('f')".to_owned(),
            "options" => {
                "select step_slug from pgflow.set_step_options('f', 'a', max_attempts => 1)"
                    .to_owned()
            }
            other => self.beside(other, &run),
        }
    }

    fn beside(&mut self, action: &str, run: &str) -> String {
        let found = BESIDES.iter().find(|(name, ..)| *name == action);
        let (.., statement) = found.unwrap_or_else(|| panic!("no action {action}"));
        let jobs = |which: &str| {
            format!(
                "(select array_agg(j.id) as ids, array_agg(j.token::text) as tokens, array[count(*)::int] as size
                    from (select id, token from pgflow.jobs where {which} order by random() limit 2) j having count(*) > 0) j,"
            )
        };
        let held = if statement.contains("{held}") { self.some() } else { String::new() };
        statement
            .replace("{held}", &held)
            .replace("{leased}", &jobs("token is not null"))
            .replace("{jobs}", &jobs("true"))
            .replace("{run}", run)
            .replace("{worker}", &self.worker.to_string())
            .replace("{new}", &Uuid::now_v7().simple().to_string())
            .replace("{n}", &self.random.below(4).to_string())
    }

    /// One of the newest few. Each is started by two sessions, more or less at once, and not again:
    /// late results are fenced within the life of a run only.
    fn run(&mut self, new: bool) -> String {
        let starts = self.starts.fetch_add(usize::from(new), Ordering::Relaxed);
        let back = if new { 0 } else { self.random.below(4) };
        format!("'00000000-0000-4000-8000-{:012}'", (starts / 2).saturating_sub(back))
    }

    /// Workers are pruned with the rest, so each claim registers anew.
    fn claim(&self) -> String {
        let insert = "insert into pgflow.workers (worker_id, queue_name, function_name) values";
        let worker = &self.worker;
        format!(
            "{insert} ('{worker}', 'f', 'f') on conflict do nothing;
                 select to_jsonb(t) from pgflow.claim_tasks(array['f'], 3, '{worker}') t"
        )
    }

    /// Some of the tasks it holds, in any order, as arrays to select from.
    fn some(&mut self) -> String {
        self.random.shuffle(&mut self.held);
        self.held.truncate(20);
        let some = self.held[..self.held.len().min(3)].to_vec();
        // What it forgets somebody has to take back; what it keeps it settles again, too late.
        self.held.drain(..self.random.below(some.len() + 1));
        let list =
            |cell: &dyn Fn(&Task) -> String| some.iter().map(cell).collect::<Vec<_>>().join(", ");
        format!(
            "(values (array[{}]::uuid[], array[{}]::text[], array[{}]::int[], array[{}]::int[], array[{}]))
                k(runs, steps, indexes, attempts, size),",
            list(&|task| format!("'{}'", task.run)),
            list(&|task| format!("'{}'", task.step)),
            list(&|task| task.index.to_string()),
            list(&|task| task.attempt.to_string()),
            some.len(),
        )
    }

    fn settle(&mut self, function: &str, values: &str) -> String {
        format!(
            "select outcome from {} pgflow.{function}(k.runs, k.steps, k.indexes, {values}, k.attempts)",
            self.some()
        )
    }

    fn both(&mut self) -> String {
        let (done, failed) = (self.some(), self.some().replace(" k(", " x("));
        format!(
            "select outcome from {done} {failed} pgflow.settle_and_claim(
                k.runs, k.steps, k.indexes, array_fill('[1]'::jsonb, k.size), k.attempts,
                x.runs, x.steps, x.indexes, array_fill('boom'::text, x.size), x.attempts,
                null, null, array['f'], 0)"
        )
    }

    fn beat(&mut self) -> String {
        let worker = self.worker;
        format!(
            "select outcome from {} pgflow.heartbeat(k.runs, k.steps, k.indexes, k.attempts, '{worker}')",
            self.some()
        )
    }

    /// Deletes the flow and makes it anew; also in one transaction with its creation.
    fn replace(&mut self) -> String {
        let map = self.random.pick(&["m map", "n map"]);
        format!("select pgflow.delete_flow_and_data('f'); {}; select 'replaced'", flow(map))
    }
}
