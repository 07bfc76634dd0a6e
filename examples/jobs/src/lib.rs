//! Invoices that are scanned page by page, and that a person looks at if they are large.
//!
//! ```text
//! invoice.ingest ──┬─ page.scan ─┬── invoice.merge ── human.review ── invoice.finish
//!                  ├─ page.scan ─┤    (if the total is large: another process, or a person)
//!                  └─ page.scan ─┘
//! ```

use pgflow::client::ClientError;
use pgflow::job::{Policy, Wait};
use pgflow::prelude::*;

/// Invoices above this are looked at by a person, in cents.
pub const LARGE: u64 = 100_000;

/// What comes in.
#[data]
#[derive(Clone, Debug)]
pub struct Upload {
    /// Who is to pay.
    pub customer: String,
    /// Pages, each with an amount per line: `tea 500`.
    pub pages: Vec<String>,
}

/// An invoice whose pages are being read.
#[data]
#[derive(Clone, Debug)]
pub struct Draft {
    /// Who is to pay.
    pub customer: String,
    /// The jobs that read its pages.
    pub scans: Vec<String>,
}

/// An invoice with its total.
#[data]
#[derive(Clone, Debug, PartialEq)]
pub struct Case {
    /// Who is to pay.
    pub customer: String,
    /// How much, in cents.
    pub total: u64,
    /// The job of its review, if it is large.
    pub review: Option<String>,
}

/// What a job put out that ended well; nothing if it was ended by hand.
async fn output<T: serde::de::DeserializeOwned>(db: &Db, id: &str) -> Result<Option<T>> {
    let record = db.job(&id.parse()?).record().await?;
    let read = |value| serde_json::from_value(value).map_err(Error::fatal);
    record.output.filter(|value| !value.is_null()).map(read).transpose()
}

/// The way of an invoice.
#[job]
pub mod invoice {
    use super::{
        Case, Db, Draft, JobContext, LARGE, Policy, Result, State, Upload, Wait, human, output,
        page,
    };

    /// Forks a job per page, and waits for all of them.
    #[need]
    pub async fn ingest(job: Upload, ctx: JobContext) -> Result<Next> {
        let scans = ctx.submit_all::<page::scan>(job.pages)?;
        let names = scans.iter().map(ToString::to_string).collect();
        let draft = Draft { customer: job.customer, scans: names };
        let waits = scans.into_iter().map(|scan| Wait::from(scan).or(Policy::Fail));
        Ok(Next::to::<merge>(draft).after(waits))
    }

    /// Adds up what the pages say.
    #[need]
    pub async fn merge(job: Draft, ctx: JobContext, State(db): State<Db>) -> Result<Next> {
        let mut total = 0;
        for scan in &job.scans {
            total += output::<u64>(&db, scan).await?.unwrap_or_default();
        }
        let case = Case { customer: job.customer, total, review: None };
        if total < LARGE {
            return Ok(Next::to::<finish>(case));
        }
        let review = ctx.submit::<human::review>(&case)?;
        let case = Case { review: Some(review.to_string()), ..case };
        Ok(Next::to::<finish>(case).after([Wait::from(review).or(Policy::Fail)]))
    }

    /// Writes the letter.
    #[need]
    pub async fn finish(job: Case, State(db): State<Db>) -> Result<Next> {
        let note = match &job.review {
            None => "small enough".to_owned(),
            Some(review) => output(&db, review).await?.unwrap_or_else(|| "seen".to_owned()),
        };
        Ok(Next::done(format!("{} pays {} cents ({note})", job.customer, job.total)))
    }
}

/// Pages.
#[job]
pub mod page {
    use super::{Error, Result};

    /// The sum of a page's lines.
    #[need(max_attempts = 3)]
    pub async fn scan(job: String) -> Result<Next> {
        let cents =
            |line: &str| line.rsplit(' ').next().and_then(|cents| cents.parse::<u64>().ok());
        let total: Option<u64> = job.lines().map(cents).sum();
        let unreadable = || Error::fatal(format!("a page without amounts: {job:?}"));
        Ok(Next::done(total.ok_or_else(unreadable)?))
    }
}

/// What people do.
#[job]
pub mod human {
    use super::Case;

    /// Somebody looks at it: another program, or a person in psql.
    #[need("human.review", external)]
    pub async fn review(job: Case) -> Result<Next>;
}

/// A worker that does everything but reviews.
pub fn worker(db: &Db) -> Worker {
    Worker::new(db).job(invoice::Job).job(page::Job).state(db.clone())
}

/// A worker that does reviews: it could be written in any language.
pub fn reviewer(db: &Db, name: String) -> Worker {
    Worker::new(db).need("human.review", move |case, _| {
        let name = name.clone();
        async move {
            let total = &case["total"];
            Ok(pgflow::job::Next::<()>::done(format!("{name} has seen the {total} cents")))
        }
    })
}

/// An upload to play with: its total is large.
pub fn sample() -> Upload {
    let pages = ["tea 500\ncup 1000", "table 90000", "chair 12500"].map(str::to_owned).to_vec();
    Upload { customer: "Ann".to_owned(), pages }
}

/// Submits an upload under this name; a name is used once.
pub async fn submit(db: &Db, name: &str, upload: &Upload) -> Result<JobHandle, ClientError> {
    db.submit::<invoice::ingest>(upload).id(name).key(format!("customer {}", upload.customer)).await
}
pub use pgflow::client::JobHandle;
