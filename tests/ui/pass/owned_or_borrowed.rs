//! What is given may be owned or borrowed, and a key or a reason is what it reads as.
#![deny(warnings)]

use std::time::Duration;

use pgflow::pipeline::Queue;
use pgflow::prelude::*;

#[flow(input = u8)]
mod count {
    #[step]
    pub async fn one(run: u8) -> pgflow::Result<u8> {
        Ok(run)
    }
}

async fn given(db: Db) -> std::result::Result<(), Box<dyn std::error::Error>> {
    let run = db.start(count::Flow, 7).key(7).await?;
    let again = db.start(count::Flow, &7).key("7".to_owned()).await?;
    assert_eq!(run.id(), again.id());
    assert_eq!(run.wait_for(Duration::ZERO).await?, None);
    run.cancel("sold out").await?;
    again.cancel(None).await?;
    again.cancel(Some("twice")).await?;

    let words = Queue::<String>::named("words");
    words.push(&db, "one".to_owned()).await?;
    words.push(&db, &"two".to_owned()).await?;
    Ok(())
}

fn main() {
    // What it does is tested where there is a database; here it is enough that it compiles.
    let _ = given;
}
