//! A run and what can be asked of it.

use serde_json::Value;
use uuid::Uuid;

use super::Db;
use super::answer::lit;

pub(crate) struct Run<'a> {
    db: &'a Db,
    flow: String,
    pub(crate) id: Uuid,
}

impl<'a> Run<'a> {
    pub(crate) fn new(db: &'a Db, flow: &str, id: Uuid) -> Self {
        Self { db, flow: flow.to_owned(), id }
    }

    /// One expression over the run's row.
    pub(crate) async fn get(&self, column: &str) -> String {
        self.db.one(&format!("select {column} from pgflow.runs where run_id = '{}'", self.id)).await
    }

    pub(crate) async fn status(&self) -> String {
        self.get("status").await
    }

    /// One expression over a step's row.
    pub(crate) async fn step(&self, slug: &str, column: &str) -> String {
        let filter = format!("run_id = '{}' and step_slug = {}", self.id, lit(slug));
        self.db.one(&format!("select {column} from pgflow.step_states where {filter}")).await
    }

    /// One expression over a task's row.
    pub(crate) async fn task(&self, slug: &str, index: u32, column: &str) -> String {
        let key = format!("run_id = '{}' and step_slug = {}", self.id, lit(slug));
        let filter = format!("{key} and task_index = {index}");
        self.db.one(&format!("select {column} from pgflow.step_tasks where {filter}")).await
    }

    /// Steps as `slug:status`, in the order of their definition.
    pub(crate) async fn steps(&self) -> Vec<String> {
        let sql = format!(
            "select s.step_slug || ':' || s.status from pgflow.step_states s
             join pgflow.steps d using (flow_slug, step_slug)
             where s.run_id = '{}' order by d.step_index",
            self.id
        );
        self.db.rows(&sql).await
    }

    /// Tasks as `slug#index:status:attempts`.
    pub(crate) async fn tasks(&self) -> Vec<String> {
        let sql = format!(
            "select step_slug || '#' || task_index || ':' || status || ':' || attempts_count
             from pgflow.step_tasks where run_id = '{}' order by step_slug, task_index",
            self.id
        );
        self.db.rows(&sql).await
    }

    /// Event names in order, steps as `step:<slug>:<what>`.
    pub(crate) async fn events(&self) -> Vec<String> {
        let name = "coalesce('step:' || step_slug || replace(event_type, 'step', ''), event_type)";
        let sql = "from pgflow.events where run_id =";
        self.db.rows(&format!("select {name} {sql} '{}' order by seq", self.id)).await
    }

    /// The payload of the only event of that type, of a step if one is named.
    pub(crate) async fn event(&self, event_type: &str, slug: Option<&str>) -> Value {
        let step = slug.map_or("null".to_owned(), lit);
        let sql = format!(
            "select payload from pgflow.events where run_id = '{}' and event_type = {}
             and step_slug is not distinct from {step}",
            self.id,
            lit(event_type)
        );
        serde_json::from_str(&self.db.one(&sql).await).expect("JSON")
    }

    /// Completes a task; None is an SQL NULL output. Gives the task's status back.
    pub(crate) async fn complete<'o>(
        &self,
        slug: &str,
        index: u32,
        output: impl Into<Option<&'o str>>,
    ) -> Vec<String> {
        let output = output.into().map_or("null".to_owned(), lit);
        self.db.rows(&self.settle("complete_task", slug, index, &output)).await
    }

    /// Fails a task. Gives the task's status back.
    pub(crate) async fn fail(&self, slug: &str, index: u32, error: &str) -> Vec<String> {
        self.db.rows(&self.settle("fail_task", slug, index, &lit(error))).await
    }

    fn settle(&self, function: &str, slug: &str, index: u32, value: &str) -> String {
        let arguments = format!("'{}', {}, {index}, {value}", self.id, lit(slug));
        format!("select status from pgflow.{function}({arguments})")
    }

    /// Claims what can be had and completes the single task of a step.
    pub(crate) async fn finish<'o>(&self, slug: &str, output: impl Into<Option<&'o str>>) {
        self.db.claim(&self.flow).await;
        assert_eq!(self.complete(slug, 0, output).await, ["completed"], "{slug} must complete");
    }

    /// Fails the first task of a step until its attempts are used up.
    pub(crate) async fn exhaust(&self, slug: &str, error: &str) {
        for _ in 0..100 {
            self.db.wake(&self.flow).await;
            self.db.claim(&self.flow).await;
            if self.fail(slug, 0, error).await == ["failed"] {
                return;
            }
        }
        panic!("{slug} never used up its attempts");
    }

    /// Sets a started task's clock back, as if its worker had died long ago.
    pub(crate) async fn stall(&self, slug: &str, index: u32) {
        let sql = format!(
            "update pgflow.step_tasks set queued_at = queued_at - interval '2 days',
                started_at = started_at - interval '1 day',
                lease_until = lease_until - interval '1 day'
             where run_id = '{}' and step_slug = {} and task_index = {index}",
            self.id,
            lit(slug)
        );
        self.db.run(&sql).await;
    }
}
