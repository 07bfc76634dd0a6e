//! A run is started with its input, or with a reference to it, and the flow says of which type that is.
#![deny(warnings)]

use pgflow::prelude::*;

#[flow(input = Vec<u64>)]
mod list {
    use super::*;
    #[step]
    pub async fn count(run: Vec<u64>) -> Result<usize> {
        Ok(run.len())
    }
}

#[flow(input = String)]
mod text {
    use super::*;
    #[step]
    pub async fn same(run: String) -> Result<String> {
        Ok(run)
    }
}

#[flow]
mod nothing {
    use super::*;
    #[step]
    pub async fn one() -> Result<u8> {
        Ok(1)
    }
}

async fn start(db: Db, name: &String) -> std::result::Result<(), pgflow::ClientError> {
    db.start(list::Flow, vec![1, 2]).await?;
    db.start(list::Flow, &vec![1, 2]).await?;
    db.start(list::Flow, &(0..40).collect()).await?;
    db.start(text::Flow, name).key("order 7").await?;
    db.start(text::Flow, name.clone()).await?;
    db.start(text::Flow, &"mug".into()).await?;
    db.start(text::Flow, &Default::default()).await?;
    db.start(nothing::Flow, ()).await?;
    db.start(nothing::Flow, &()).await?;
    Ok(())
}

fn is_send<T: Send>(_: T) {}

fn main() {
    is_send(async {
        let db = Db::connect("memory:").await.expect("a database");
        start(db, &String::new()).await
    });
}
