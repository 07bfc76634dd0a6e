//! Random graphs: written as Rust, migrated by the generator, applied to a real Postgres, and read
//! back.

mod random;

use std::time::{Duration, Instant};

use pgflow_build_tests::Scratch;
use pgflow_model::{FlowShape, Lock, Operation};
use pgflow_test_support::TestDb;
use random::{Random, flow};
use serde_json::Value;
use sqlparser::ast::Statement;
use sqlparser::dialect::PostgreSqlDialect;
use sqlparser::parser::Parser;

const FLOWS: usize = 200;
const MOST_STEPS: usize = 60;

/// What `_get_flow_shape` says of it: everything but options.
fn expected(shape: &FlowShape) -> Value {
    let mut json = shape.to_json();
    json.as_object_mut().expect("an object").remove("options");
    for step in json["steps"].as_array_mut().expect("steps") {
        step.as_object_mut().expect("an object").remove("options");
    }
    json
}

#[tokio::test]
async fn graphs_read_back_as_they_were_written() {
    let mut random = Random::new(7);
    let source: String = (0..FLOWS).map(|n| flow(&mut random, n, MOST_STEPS)).collect();
    let scratch = Scratch::new(&[("src/lib.rs", &source)]);
    scratch.migrate();
    let files = scratch.files();
    assert_eq!(files.len(), FLOWS);

    let db = TestDb::new().await;
    let mut operations = Vec::new();
    for (name, sql) in &files {
        let statements = Parser::parse_sql(&PostgreSqlDialect {}, sql).expect(name);
        assert!(statements.iter().all(|s| matches!(s, Statement::Query(_))), "{name}");
        let [Operation::CreateVersion { shape, .. }] = &Operation::of_sql(sql).expect(name)[..]
        else {
            panic!("{name} does more than create one version");
        };
        operations.push(shape.to_json());
        sqlx::raw_sql(sqlx::AssertSqlSafe(sql.clone())).execute(&db.pool).await.expect(name);
    }
    let lock: Lock = scratch.read("pgflow.lock").parse().expect("a lock");
    let mut steps = 0;
    for (locked, operation) in lock.versions.iter().zip(operations) {
        let shape = &locked.shape;
        assert_eq!(operation, shape.to_json(), "{}", shape.slug);
        let stored: Value = sqlx::query_scalar("select pgflow._get_flow_shape($1)")
            .bind(&shape.slug)
            .fetch_one(&db.pool)
            .await
            .expect("a shape");
        assert_eq!(stored, expected(shape), "{}", shape.slug);
        assert_eq!(options(&db, &shape.slug).await, written_options(shape), "{}", shape.slug);
        steps += shape.steps.len();
    }
    println!("{FLOWS} flows with {steps} steps");
    assert!(steps > FLOWS * 10, "the graphs are too small: {steps}");
}

type Options = Vec<(String, [Option<i32>; 4])>;

async fn options(db: &TestDb, flow: &str) -> Options {
    type Row = (String, Option<i32>, Option<i32>, Option<i32>, Option<i32>);
    let rows: Vec<Row> = sqlx::query_as(
        "select step_slug, opt_max_attempts, opt_base_delay, opt_timeout, opt_start_delay
           from pgflow.steps where flow_slug = $1 order by step_index",
    )
    .bind(flow)
    .fetch_all(&db.pool)
    .await
    .expect("options");
    rows.into_iter().map(|(slug, a, b, c, d)| (slug, [a, b, c, d])).collect()
}

fn written_options(shape: &FlowShape) -> Options {
    let number = |value: Option<u32>| value.map(|value| i32::try_from(value).expect("small"));
    let of = |step: &pgflow_model::StepShape| {
        let o = step.options;
        (step.slug.clone(), [o.max_attempts, o.base_delay, o.timeout, o.start_delay].map(number))
    };
    shape.steps.iter().map(of).collect()
}

/// How long it takes to write the migrations of so many flows, and to compare them again.
fn cost(flows: usize) -> [Duration; 2] {
    let mut random = Random::new(11);
    let source: String = (0..flows).map(|n| random::of_size(&mut random, n, 20)).collect();
    let scratch = Scratch::new(&[("src/lib.rs", &source)]);
    let (first, written) = timed(|| scratch.migrate());
    assert_eq!(written.len(), flows + 1);
    let (second, written) = timed(|| scratch.migrate());
    assert!(written.is_empty());
    println!("{flows} flows of 20 steps, unoptimised: {first:?}, compared {second:?} (CPU)");
    [first, second]
}

/// Ten times as many may cost three times as much each: writing grows with the directory.
#[test]
fn the_cost_of_flows_adds_up_and_does_not_multiply() {
    for (few, many) in cost(10).into_iter().zip(cost(100)) {
        assert!(many < few * 30, "{many:?} for 100 flows, {few:?} for 10");
    }
}

/// How long the processor was busy with it, whoever else wants one.
fn timed<T>(work: impl FnOnce() -> T) -> (Duration, T) {
    let busy = || {
        let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
        text.split(' ').next()?.parse().ok().map(Duration::from_nanos)
    };
    let (start, before) = (Instant::now(), busy());
    let done = work();
    let took = before.zip(busy()).map(|(before, now)| now.saturating_sub(before));
    (took.unwrap_or_else(|| start.elapsed()), done)
}
