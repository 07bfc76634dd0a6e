use pgflow::prelude::*;

struct Opaque;

#[data]
struct Page {
    url: String,
    raw: Opaque,
    more: Vec<Option<Opaque>>,
}

#[data]
struct Id(u64, Opaque);

#[data]
enum Status {
    Fine,
    Broken { since: std::time::Instant },
}

#[flow(input = Page)]
mod billing {
    use super::*;

    #[step]
    async fn id(run: Page) -> Result<Id> {
        Ok(Id(1, run.raw))
    }

    #[step]
    async fn status() -> Result<Vec<Status>> {
        Ok(vec![Status::Fine])
    }
}

fn main() {}
