//! The functions of the core that generated migrations call.

use pgflow_build_tests::Scratch;
use pgflow_test_support::TestDb;

async fn run(db: &TestDb, sql: &str) -> Result<(), String> {
    let done = sqlx::raw_sql(sqlx::AssertSqlSafe(sql.to_owned())).execute(&db.pool).await;
    done.map(drop).map_err(|error| match error.as_database_error() {
        Some(error) => error.message().to_owned(),
        None => error.to_string(),
    })
}

async fn started(db: &TestDb, flow: &str) -> String {
    let slug = sqlx::query_scalar("select flow_slug from pgflow.start_flow($1, '{}')").bind(flow);
    slug.fetch_one(&db.pool).await.expect("a run")
}

async fn two_versions() -> TestDb {
    let db = TestDb::new().await;
    let create = "select pgflow.create_flow('a'); select pgflow.add_step('a', 's');
                  select pgflow.create_flow('a__v2'); select pgflow.add_step('a__v2', 't');
                  select pgflow.add_flow_version('a', 2, 'a__v2')";
    run(&db, create).await.expect("created");
    db
}

#[tokio::test]
async fn new_runs_use_the_highest_number_whatever_came_last() {
    let db = two_versions().await;
    assert_eq!(started(&db, "a").await, "a__v2");
    assert_eq!(started(&db, "a__v2").await, "a__v2");
    let more = "select pgflow.create_flow('a__v10'); select pgflow.add_flow_version('a', 10, 'a__v10');
                select pgflow.create_flow('a__v9'); select pgflow.add_flow_version('a', 9, 'a__v9')";
    run(&db, more).await.expect("created");
    assert_eq!(started(&db, "a").await, "a__v10");
}

#[tokio::test]
async fn a_version_is_added_once() {
    let db = two_versions().await;
    run(&db, "select pgflow.add_flow_version('a', 2, 'a__v2')").await.expect("the same again");
    let why = run(&db, "select pgflow.add_flow_version('a', 2, 'a')").await.expect_err("another");
    assert_eq!(why, "Version 2 of flow \"a\" is \"a__v2\", not \"a\"");
    let why = run(&db, "select pgflow.add_flow_version('a', 3, 'b')").await.expect_err("no flow");
    assert!(why.contains("flow_versions_flow_slug_fkey"), "{why}");
    let why = run(&db, "select pgflow.add_flow_version('a', 3, 'a__v2')").await.expect_err("twice");
    assert!(why.contains("flow_versions_flow_slug_key"), "{why}");
}

#[tokio::test]
async fn a_version_that_is_compiled_anew_stays_one() {
    let db = two_versions().await;
    let shape = r#"{"steps": [{"slug": "other", "stepType": "single", "dependencies": []}]}"#;
    let compile = format!("select pgflow.ensure_flow_compiled('a__v2', '{shape}', true)");
    run(&db, &compile).await.expect("compiled");
    assert_eq!(started(&db, "a").await, "a__v2");
}

#[tokio::test]
async fn options_are_set_as_a_whole() {
    let db = two_versions().await;
    let set = "select pgflow.set_flow_options('a', max_attempts => 9, timeout => 8);
               select pgflow.set_flow_options('a', base_delay => 7);
               select pgflow.set_step_options('a', 's', start_delay => 6);
               select pgflow.set_step_options('a', 's', timeout => 5)";
    run(&db, set).await.expect("set");
    let options: String = sqlx::query_scalar(
        "select concat_ws(' ', f.opt_max_attempts, f.opt_base_delay, f.opt_timeout, s.opt_timeout, s.opt_start_delay)
           from pgflow.flows f join pgflow.steps s using (flow_slug) where flow_slug = 'a'",
    )
    .fetch_one(&db.pool)
    .await
    .expect("options");
    assert_eq!(options, "3 7 60 5", "what is not given is the default, or the flow's");
    let why = run(&db, "select pgflow.set_flow_options('b')").await.expect_err("no flow");
    assert_eq!(why, "There is no flow \"b\"");
    let why = run(&db, "select pgflow.set_step_options('a', 'b')").await.expect_err("no step");
    assert_eq!(why, "There is no step \"b\" in flow \"a\"");
}

#[tokio::test]
async fn two_programs_do_not_share_a_flow_by_accident() {
    let db = TestDb::new().await;
    let program = |step: &str| {
        let source = format!(
            "#[pgflow::flow]\npub mod mail {{ #[step] pub async fn {step}() -> Result<u8> {{ Ok(1) }} }}\n"
        );
        let scratch = Scratch::new(&[("src/lib.rs", &source)]);
        scratch.draft();
        scratch.read("migrations/0001_create_mail.sql")
    };
    run(&db, &program("send")).await.expect("the first");
    run(&db, &program("send")).await.expect("the very same flow");
    let why = run(&db, &program("post")).await.expect_err("another flow");
    assert_eq!(why, "Flow \"mail\" is there already, and is another one: it has \"send\"");
}
