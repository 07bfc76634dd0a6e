//! `cargo run -p pgflow-example-web`: the application on <http://localhost:3000>, in an SQLite file or the database that is
//! named, until Ctrl-C.

use pgflow::prelude::*;
use pgflow_example_web::{Mailbox, app, prepare, worker};
use pgflow_web::Options;

#[tokio::main]
async fn main() -> std::result::Result<(), Box<dyn std::error::Error + Send + Sync>> {
    let url = std::env::args().nth(1).unwrap_or_else(|| "sqlite:web.db".to_owned());
    let db = Db::connect(&url).await?;
    prepare(&db).await?;
    let listener = tokio::net::TcpListener::bind("127.0.0.1:3000").await?;
    println!(
        "http://{}: see the head of examples/web/src/lib.rs for what to ask it",
        listener.local_addr()?
    );
    // Streams end when the program does.
    let mailbox = Mailbox::default();
    let app = app(&db, mailbox.clone(), &Options::new().actions(true).until(stopped()));
    let server = axum::serve(listener, app).with_graceful_shutdown(stopped());
    let (answered, worked) =
        tokio::join!(server.into_future(), worker(&db, &mailbox).run(stopped()));
    answered?;
    worked?;
    Ok(())
}

async fn stopped() {
    // Without signals it runs until it is killed.
    if tokio::signal::ctrl_c().await.is_err() {
        std::future::pending::<()>().await;
    }
}
