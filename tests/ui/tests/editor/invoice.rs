use pgflow::prelude::*;

#[derive(Serialize, Deserialize, JsonSchema)]
pub struct Draft {
    pub pages: u32,
}

#[job]
pub mod invoice {
    use super::*;

    #[need]
    pub async fn ingest(job: u32) -> Result<Next> {
        Ok(Next::to::<merge>(Draft { pages: job }))
    }

    #[need(max_attempts = 5)]
    pub async fn merge(job: Draft) -> Result<Next> {
        if job.pages > 100 {
            return Ok(Next::to::<review>(job));
        }
        Ok(Next::to::<merge>(job))
    }

    #[need("human.review", external)]
    pub async fn review(job: Draft) -> Result<Next>;
}

pub async fn submitted(db: &Db) -> Result<(), ClientError> {
    db.submit::<invoice::merge>(&Draft { pages: 1 }).await?;
    Ok(())
}
