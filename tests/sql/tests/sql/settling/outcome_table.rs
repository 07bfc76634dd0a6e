//! The machine's table of outcomes, held against the core: every combination of statuses, attempts and verdicts, one by
//! one and as a batch. Most combinations are no run's: rows are set to them by force.

use std::fmt::Write;

use crate::harness::Db;

const TABLE: &str = "../../pgflow-machine/tests/outcomes/table.txt";

/// Calls by the table's columns; `{ids}`, `{steps}`, `{indexes}`, `{attempts}` and `{each …}` are arrays.
const CALLS: [(&str, &str); 7] = [
    ("completed", "complete_tasks({ids}, {steps}, {indexes}, {each '1'::jsonb}, {attempts})"),
    ("failed", "fail_tasks({ids}, {steps}, {indexes}, {each 'no'}, {attempts})"),
    (
        "fatal",
        "fail_tasks({ids}, {steps}, {indexes}, {each 'no'}, {attempts}, fatal => {each true})",
    ),
    ("released", "release_tasks({ids}, {steps}, {indexes}, {attempts})"),
    ("yielded", "yield_tasks({ids}, {steps}, {indexes}, {attempts}, {each 5}, {each 'busy'})"),
    (
        "waits",
        "wait_tasks({ids}, {steps}, {indexes}, {attempts}, {each jsonb_build_object('on', 'sleep', 'for', 60000000)})",
    ),
    ("heartbeat", "heartbeat({ids}, {steps}, {indexes}, {attempts})"),
];

struct Table {
    columns: Vec<String>,
    lines: Vec<Vec<String>>,
}

impl Table {
    fn read() -> Self {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(TABLE);
        let text = std::fs::read_to_string(path).expect("the machine's table");
        let mut lines =
            text.lines().map(|line| line.split_whitespace().map(str::to_owned).collect());
        let columns: Vec<String> = lines.next().expect("a head");
        Self { columns, lines: lines.collect() }
    }

    fn column(&self, name: &str) -> Vec<&str> {
        let at = self.columns.iter().position(|column| column == name).expect("a column");
        self.lines.iter().map(|line| line[at].as_str()).collect()
    }
}

/// Runs in the states of the table, in `cases`, by number.
async fn set_up(db: &Db, table: &Table) {
    db.run("select pgflow.create_flow('f'); select pgflow.add_step('f', 'a')").await;
    let mut values = String::new();
    for (n, line) in table.lines.iter().enumerate() {
        let attempt = ["older", "current", "newer"].iter().position(|it| *it == line[3]);
        let attempt = attempt.expect("an attempt") + 1;
        let comma = if n == 0 { "" } else { ", " };
        let [run, step, task] = [&line[0], &line[1], &line[2]];
        let _ = write!(values, "{comma}({n}, '{run}', '{step}', '{task}', {attempt})");
    }
    db.run(&format!(
        "create table cases as
           select c.*, s.run_id
             from (values {values}) c(n, run, step, task, attempt),
                  pgflow.start_flow('f', jsonb_build_object('n', c.n)) s"
    ))
    .await;
    assert_eq!(db.claim("f").await.len(), table.lines.len());
    db.run(FORCE).await;
}

const FORCE: &str = "
  update pgflow.runs r
     set status = c.run,
         remaining_steps = case c.run when 'completed' then 0 else 1 end,
         completed_at = case c.run when 'completed' then now() end,
         failed_at = case c.run when 'failed' then now() end,
         cancelled_at = case c.run when 'cancelled' then now() end
    from cases c where c.run_id = r.run_id;
  update pgflow.step_states s
     set status = c.step,
         remaining_tasks = case when c.step in ('started', 'failed') then 1 when c.step = 'completed' then 0 end,
         skip_reason = case c.step when 'skipped' then 'condition_unmet' end,
         completed_at = case c.step when 'completed' then now() end,
         failed_at = case c.step when 'failed' then now() end,
         skipped_at = case c.step when 'skipped' then now() end
    from cases c where c.run_id = s.run_id;
  update pgflow.step_tasks t
     set status = c.task,
         attempts_count = 2,
         completed_at = case c.task when 'completed' then clock_timestamp() end,
         failed_at = case c.task when 'failed' then clock_timestamp() end
    from cases c where c.run_id = t.run_id and c.task <> 'none';
  delete from pgflow.step_tasks t using cases c where c.run_id = t.run_id and c.task = 'none';";

/// The cells of a column: the answer and, if that changed, what the task, its step and its run are now.
async fn cells(db: &Db, call: &str) -> Vec<String> {
    let answers = db.rows(call).await;
    let statuses = db
        .rows(
            "select case when now = was then '' else '>' || now end from (
               select c.n, concat_ws('/', c.task, c.step, c.run) as was,
                      concat_ws('/', coalesce(t.status, 'none'), s.status, r.status) as now
                 from cases c
                 join pgflow.runs r using (run_id)
                 join pgflow.step_states s using (run_id)
                 left join pgflow.step_tasks t using (run_id)) it order by n",
        )
        .await;
    answers.into_iter().zip(statuses).map(|(answer, now)| answer + &now).collect()
}

/// A call per case.
fn one_by_one(call: &str) -> String {
    let call = call
        .replace("{ids}", "array[c.run_id]")
        .replace("{steps}", "array['a']")
        .replace("{indexes}", "array[0]")
        .replace("{attempts}", "array[c.attempt]")
        .replace("{each ", "array[")
        .replace('}', "]");
    format!("select o.outcome from (select * from cases order by n) c, pgflow.{call} o")
}

/// All cases in one call.
fn as_a_batch(call: &str) -> String {
    let count = "(select count(*)::int from cases)";
    let call = call
        .replace("{ids}", "(select array_agg(run_id order by n) from cases)")
        .replace("{steps}", &format!("array_fill('a'::text, array[{count}])"))
        .replace("{indexes}", &format!("array_fill(0, array[{count}])"))
        .replace("{attempts}", "(select array_agg(attempt order by n) from cases)")
        .replace("{each '1'::jsonb}", &format!("array_fill('1'::jsonb, array[{count}])"))
        .replace("{each 'no'}", &format!("array_fill('no'::text, array[{count}])"))
        .replace("{each 'busy'}", &format!("array_fill('busy'::text, array[{count}])"))
        .replace(
            "{each jsonb_build_object('on', 'sleep', 'for', 60000000)}",
            &format!(
                "array_fill(jsonb_build_object('on', 'sleep', 'for', 60000000), array[{count}])"
            ),
        )
        .replace("{each 5}", &format!("array_fill(5, array[{count}])"))
        .replace("{each true}", &format!("array_fill(true, array[{count}])"));
    format!("select o.outcome from pgflow.{call} o join cases c using (run_id) order by c.n")
}

async fn compare(write: fn(&str) -> String) {
    let table = Table::read();
    let compared: Vec<&str> = CALLS.iter().map(|(column, _)| *column).collect();
    let columns: Vec<&str> = table.columns[4..].iter().map(String::as_str).collect();
    assert_eq!(compared, columns, "every column is compared");
    assert!(table.lines.len() >= 240, "{} lines", table.lines.len());
    let mut differences = Vec::new();
    for (column, call) in CALLS {
        let db = Db::new().await;
        set_up(&db, &table).await;
        let found = cells(&db, &write(call)).await;
        let expected = table.column(column);
        assert_eq!(found.len(), expected.len(), "{column}");
        for ((line, found), expected) in table.lines.iter().zip(&found).zip(expected) {
            if found != expected {
                let case = line[..4].join(" ");
                differences.push(format!("{case}, {column}: {found}, the machine: {expected}"));
            }
        }
    }
    assert!(differences.is_empty(), "{}\n{}", differences.len(), differences.join("\n"));
}

#[tokio::test]
async fn each_settle_has_the_outcome_of_the_table() {
    compare(one_by_one).await;
}

#[tokio::test]
async fn a_batch_has_the_outcomes_of_the_table() {
    compare(as_a_batch).await;
}
