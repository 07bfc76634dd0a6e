//! What is given may be owned or borrowed, and a key or a reason is what it reads as.
#![deny(warnings)]

use std::sync::Arc;
use std::time::Duration;

use pgflow::pipeline::{Pipeline, Queue};
use pgflow::prelude::*;

#[flow(input = u8)]
mod count {
    #[step]
    pub async fn one(run: u8) -> pgflow::Result<u8> {
        Ok(run)
    }
}

#[job]
mod letter {
    use super::*;

    #[need]
    pub async fn send(job: String) -> Result<Next> {
        Ok(Next::done(job))
    }
}

#[job]
mod number {
    use super::*;

    #[need]
    pub async fn take(job: u8) -> Result<Next> {
        Ok(Next::done(job))
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

    db.submit::<letter::send>("one".to_owned()).await?;
    db.submit::<letter::send>(&"two".to_owned()).await?;
    db.submit::<letter::send>(Box::new("three".to_owned())).await?;
    db.submit::<letter::send>(&Arc::new("four".to_owned())).await?;
    db.submit::<number::take>(&7).await?;
    db.submit::<number::take>(7).await?;

    let shout = |of: Pipeline<String>| of.process(|word, _ctx| async move { Ok(word.to_uppercase()) });
    let (one, two) = (Pipeline::new("one", &words), Pipeline::new("two", words.clone()));
    let _ = Worker::new(&db).pipeline(shout(one)).pipeline(shout(two));
    let _ = (Worker::new(Arc::new(db.clone())), Worker::new(&Arc::new(db.clone())));
    let _ = Worker::new(db);
    Ok(())
}

fn main() {
    // What it does is tested where there is a database; here it is enough that it compiles.
    let _ = given;
}
