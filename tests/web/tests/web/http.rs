//! Pages as programs meet them, on every database.

use std::time::{Duration, Instant};

use pgflow_machine::FlowVersion;
use pgflow_model::{FlowMigration, FlowMigrations, FlowShape, Operation, StepShape};
use pgflow_web::Options;
use pgflow_web_tests::{Order, Outcome, Tools};
use pgflow_worker_tests::{Fresh, everywhere};

use crate::place::{Place, path};

everywhere!(
    every_page_answers_and_is_locked_down,
    wrong_addresses_get_a_sentence,
    lists_go_on_where_they_stopped,
    payloads_are_escaped,
    a_run_says_what_it_waits_for,
    a_run_that_is_held_back_says_why,
    a_flow_that_was_made_anew_has_its_new_graph,
);

/// Makes a flow of three steps, the last of which depends on one of the others.
async fn define(fresh: &Fresh, last: &str) -> Outcome {
    let steps =
        vec![StepShape::new("a"), StepShape::new("b").after("a"), StepShape::new("c").after(last)];
    let shape = FlowShape { steps, ..FlowShape::new("again") };
    let version = FlowVersion { flow: "again".into(), version: 1, slug: "again".into(), shape };
    fresh.db.backend().ensure_flow(&version).await?;
    Ok(())
}

/// Deletes it, with its runs.
async fn delete(fresh: &Fresh) -> Outcome {
    let operations = [Operation::DeleteVersion { slug: "again".to_owned() }];
    let files = vec![FlowMigration {
        name: "one",
        checksum: "one",
        sql: operations[0].to_sql().leak(),
        operations_json: Operation::list_to_json(&operations).leak(),
    }];
    let migrations = FlowMigrations { package: "again", files: files.leak(), notes: None };
    fresh.db.backend().apply(&migrations).await?;
    Ok(())
}

async fn a_flow_that_was_made_anew_has_its_new_graph(fresh: Fresh) -> Outcome {
    let place = Place::on(fresh, &Tools::default(), Options::new()).await?;
    let graph = async |last: &str| -> Outcome<String> {
        define(&place.fresh, last).await?;
        let (run, _) = place.db().start_by_name("again", 1.into(), None).await?;
        let page = place.dashboard.get(&format!("/runs/{run}"), &[]).await?.body;
        // Signs of statuses are drawn, too.
        let drawn = page.split("<svg").skip(1).filter_map(|svg| svg.split("</svg>").next());
        Ok(drawn.max_by_key(|svg| svg.len()).ok_or("a graph")?.to_owned())
    };
    let wide = graph("a").await?;
    delete(&place.fresh).await?;
    assert_ne!(graph("b").await?, wide, "it is a line now");
    place.close().await
}

async fn every_page_answers_and_is_locked_down(fresh: Fresh) -> Outcome {
    let place = Place::on(fresh, &Tools::default(), Options::new()).await?;
    let run = place.ended(&Order::of(2)).await?;
    let run = path(&run);
    place.db().submit_raw("n", serde_json::json!(1)).id("seven").await?;
    let home = place.dashboard.get("/", &[]).await?.body;
    let listed = navigation(&home);
    assert_eq!(listed.len(), 9, "{listed:?}");
    let paths = [&*run, "/flows/orders", "/job?id=seven", "/assets/style.css", "/nowhere"];
    let paths = listed.iter().map(String::as_str).chain(paths);
    for path in paths.map(str::to_owned).chain([format!("{run}?step=pack&task=1")]) {
        let answer = place.dashboard.get(&path, &[]).await?;
        assert_eq!(
            answer.status,
            if path == "/nowhere" { 404 } else { 200 },
            "{path}: {}",
            answer.body
        );
        let policy = answer.header("content-security-policy").ok_or("no policy")?;
        assert!(
            policy.starts_with("default-src 'none';") && !policy.contains("unsafe"),
            "{policy}"
        );
        assert!(policy.contains("frame-ancestors 'none'") && policy.contains("form-action 'self'"));
        assert_eq!(answer.header("x-content-type-options"), Some("nosniff"));
        let kept = answer.header("cache-control").ok_or("no word about caches")?;
        assert_eq!(kept == "no-store", !path.starts_with("/assets/"), "{path}: {kept}");
        assert!(answer.header("set-cookie").is_none(), "nobody needs a cookie to read");
        assert!(!answer.body.contains("style=\"") && !answer.body.contains("<style"), "{path}");
    }
    place.close().await
}

/// Where the navigation of a page leads.
pub(crate) fn navigation(page: &str) -> Vec<String> {
    let list = page.split("<nav aria-label=\"Pages\">").nth(1).unwrap_or_default();
    let list = list.split("</nav>").next().unwrap_or_default();
    let links = list.split(" href=\"").skip(1).filter_map(|link| link.split('"').next());
    links.map(str::to_owned).collect()
}

async fn wrong_addresses_get_a_sentence(fresh: Fresh) -> Outcome {
    let place = Place::on(fresh, &Tools::default(), Options::new()).await?;
    let run = path(&place.ended(&Order::of(1)).await?);
    for (path, status, sentence) in [
        ("/runs/seven".to_owned(), 404, "is not the id of a run"),
        ("/runs/018f3c1e-0000-7000-8000-000000000001".to_owned(), 404, "there is no run 018f3c1e"),
        (format!("{run}?step=none"), 404, "the run has no step `none`"),
        (format!("{run}?step=pack&task=7"), 404, "step `pack` has no task 7"),
        (format!("{run}?step=pack&only=odd"), 400, "there is no status `odd`"),
        ("/runs?status=odd".to_owned(), 400, "there is no status `odd`"),
        ("/runs?after=odd".to_owned(), 400, "`odd` is not the end of a page of runs"),
        ("/flows/none".to_owned(), 404, "there is no such version of a flow `none`"),
        ("/flows/orders?version=9".to_owned(), 404, "there is no such version"),
        ("/live/runs/018f3c1e-0000-7000-8000-000000000001".to_owned(), 404, "there is no run"),
        ("/workers?after=odd".to_owned(), 400, "`odd` is not the end of a page of workers"),
        ("/nowhere".to_owned(), 404, "there is no such page"),
    ] {
        let answer = place.dashboard.get(&path, &[]).await?;
        assert_eq!(answer.status, status, "{path}: {}", answer.body);
        assert!(answer.body.contains(sentence), "{path}: {}", answer.body);
    }
    place.close().await
}

async fn lists_go_on_where_they_stopped(fresh: Fresh) -> Outcome {
    let place = Place::on(fresh, &Tools::without_boxes(), Options::new()).await?;
    let mut started = Vec::new();
    for _ in 0..60 {
        started.push(place.start(&Order::of(0)).await?.id().to_string());
    }
    let first = place.dashboard.get("/runs?flow=orders", &[]).await?.body;
    let next = first.split_once("rel=\"next\" href=\"").ok_or("no next page")?.1;
    let next = next.split('"').next().unwrap_or_default().replace("&amp;", "&");
    let second = place.dashboard.get(&next, &[]).await?.body;
    let on = |page: &str| started.iter().filter(|id| page.contains(id.as_str())).count();
    assert_eq!((on(&first), on(&second)), (50, 10));
    assert!(started.iter().all(|id| first.contains(id.as_str()) != second.contains(id.as_str())));
    assert!(!second.contains("rel=\"next\"") && second.contains("Newest"));
    let none = place.dashboard.get("/runs?flow=other", &[]).await?.body;
    assert_eq!(on(&none), 0);
    place.close().await
}

async fn payloads_are_escaped(fresh: Fresh) -> Outcome {
    let place = Place::on(fresh, &Tools::default(), Options::new()).await?;
    let customer = "<script>x</script>\u{1b}[31m\u{202e}\"'&".to_owned();
    let run = place.ended(&Order { customer, ..Order::of(1) }).await?;
    let page = place.dashboard.get(&path(&run), &[]).await?.body;
    assert!(!page.contains("<script>x"), "{page}");
    assert!(page.contains("&lt;script&gt;x&lt;/script&gt;"), "{page}");
    assert!(page.contains("⟨U+202E⟩") && !page.contains('\u{1b}') && !page.contains('\u{202e}'));
    place.close().await
}

async fn a_run_says_what_it_waits_for(fresh: Fresh) -> Outcome {
    let tools = Tools::without_boxes();
    let place = Place::on(fresh, &tools, Options::new()).await?;
    let run = place.start(&Order::of(1)).await?;
    let is_packing =
        || async {
            let steps = run.progress().await?;
            Outcome::Ok(steps.iter().any(|it| {
                it.step == "pack" && it.work.as_ref().is_some_and(|work| work.running > 0)
            }))
        };
    while !is_packing().await? {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let quiet = place.dashboard.get(&path(&run), &[]).await?.body;
    assert!(quiet.contains("What does it wait for?") && !quiet.contains("is being worked on"));
    let asked = place.dashboard.get(&format!("{}?why=1", path(&run)), &[]).await?.body;
    assert!(asked.contains("step `pack` is being worked on"), "{asked}");
    tools.boxes.add_permits(1);
    run.wait().await?;
    let ended = place.dashboard.get(&format!("{}?why=1", path(&run)), &[]).await?.body;
    assert!(!ended.contains("What"), "{ended}");
    place.close().await
}

/// Its input is none that this program's types can read, as after a change of them.
async fn a_run_that_is_held_back_says_why(fresh: Fresh) -> Outcome {
    let place = Place::on(fresh, &Tools::default(), Options::new()).await?;
    // By name, as others start it: a program that knows the flow is told at once.
    let input = serde_json::json!({ "customer": 7 });
    let (run, _) = place.db().start_by_name("orders", input, None).await?;
    let deadline = Instant::now() + Duration::from_mins(1);
    let page = format!("/runs/{run}?why=1");
    loop {
        let told = place.dashboard.get(&page, &[]).await?.body;
        if told.contains("held back: cannot read the run") {
            // Nothing is shown as failed.
            assert!(!told.contains("class=\"failure\""), "{told}");
            return place.close().await;
        }
        assert!(Instant::now() < deadline, "{told}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

/// The measurement works; what it says about speed is for a machine that is quiet.
#[test]
fn pages_can_be_measured_on_every_database() -> Outcome {
    let pages = std::process::Command::new(env!("CARGO_BIN_EXE_pages"))
        .args(["--short", "--rounds", "2", "--json"])
        .output()?;
    assert!(pages.status.success(), "{}", String::from_utf8_lossy(&pages.stderr));
    let report: serde_json::Value = serde_json::from_slice(&pages.stdout)?;
    let figures = report["pages"].as_array().ok_or("no figures")?;
    for database in ["sqlite", "postgres", "mysql"] {
        let of = figures.iter().filter(|figure| figure["database"] == database);
        assert_eq!(of.filter(|figure| figure["p50_ms"].as_f64() > Some(0.0)).count(), 48);
    }
    Ok(())
}
