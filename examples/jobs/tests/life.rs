//! The example, as somebody who reads it would run it.

use std::process::Command;
use std::time::Duration;

use pgflow_example_jobs::{Upload, sample, submit, worker};
use pgflow_worker_tests::{Fresh, Outcome, Working, on};
use sqlx::{Connection, Row};

on!(memory: a_small_invoice_needs_nobody, a_page_that_cannot_be_read_ends_its_invoice);
on!(sqlite: a_small_invoice_needs_nobody, a_page_that_cannot_be_read_ends_its_invoice);
on!(mysql: a_small_invoice_needs_nobody, a_page_that_cannot_be_read_ends_its_invoice);
on!(postgres: a_small_invoice_needs_nobody, a_page_that_cannot_be_read_ends_its_invoice, a_review_is_done_by_hand);

/// No set-up at all: a file, and a second process.
#[test]
fn the_whole_life_in_a_file() -> Outcome {
    let directory = std::env::temp_dir().join(format!("pgflow-invoices-{}", std::process::id()));
    std::fs::create_dir_all(&directory)?;
    let ran = Command::new(env!("CARGO_BIN_EXE_invoices")).current_dir(&directory).output()?;
    let text = String::from_utf8_lossy(&ran.stdout);
    assert!(ran.status.success(), "{text}{}", String::from_utf8_lossy(&ran.stderr));
    assert!(
        text.contains("Ann pays 104000 cents (the second process has seen the 104000 cents)"),
        "{text}"
    );
    for word in ["submitted", "handed_over", "unblocked", "finished"] {
        assert!(text.contains(word), "{word}: {text}");
    }
    std::fs::remove_dir_all(&directory)?;
    Ok(())
}

async fn a_small_invoice_needs_nobody(fresh: Fresh) -> Outcome {
    let worker = Working::start(worker(&fresh.db));
    let upload = Upload { customer: "Bo".into(), pages: vec!["tea 500".into()] };
    let letter: String = submit(&fresh.db, "small", &upload).await?.output().await?;
    assert_eq!(letter, "Bo pays 500 cents (small enough)");
    worker.stop().await?;
    Ok(())
}

async fn a_page_that_cannot_be_read_ends_its_invoice(fresh: Fresh) -> Outcome {
    let worker = Working::start(worker(&fresh.db));
    let upload = Upload { customer: "Bo".into(), pages: vec!["tea 500".into(), "smudge".into()] };
    let invoice = submit(&fresh.db, "smudged", &upload).await?;
    assert_eq!(invoice.wait().await?.to_string(), "failed");
    let error = invoice.record().await?.summary.error.ok_or("it says why")?;
    assert!(error.ends_with("ended failed"), "{error}");
    worker.stop().await?;
    Ok(())
}

/// What docs/jobs.md has a person type into psql.
async fn a_review_is_done_by_hand(fresh: Fresh) -> Outcome {
    let working = Working::start(worker(&fresh.db));
    let invoice = submit(&fresh.db, "by hand", &sample()).await?;
    let mut psql = sqlx::PgConnection::connect(&fresh.url).await?;
    let get_work = "select job_id, lease_id, payload ->> 'customer' from pgwf.get_work('ann', array['human.review'])";
    let review = async {
        loop {
            match sqlx::query(get_work).fetch_optional(&mut psql).await? {
                Some(row) => return Outcome::Ok(row),
                None => tokio::time::sleep(Duration::from_millis(50)).await,
            }
        }
    };
    let review = tokio::time::timeout(Duration::from_mins(1), review).await??;
    let (job, lease): (String, String) = (review.try_get(0)?, review.try_get(1)?);
    assert_eq!(review.try_get::<String, _>(2)?, "Ann");
    let complete = sqlx::query("select pgwf.complete_job($1, $2, 'ann')").bind(job).bind(lease);
    complete.execute(&mut psql).await?;
    assert_eq!(invoice.output::<String>().await?, "Ann pays 104000 cents (seen)");
    working.stop().await?;
    Ok(())
}
