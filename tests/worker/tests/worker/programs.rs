//! Old and new programs side by side, on one database.

use pgflow::{ClientError, Worker};
use pgflow_runtime::backend::BackendError;
use pgflow_worker_tests::{Fresh, Outcome, Working, everywhere};

/// The first version.
mod v1 {
    use pgflow::prelude::*;

    #[flow(version = 1, slug = "parcel", input = u32)]
    pub(crate) mod parcel {
        use super::*;

        #[step]
        pub(crate) async fn send(run: u32) -> Result<String> {
            Ok(format!("one: {run}"))
        }
    }
}

/// Another graph, which takes and puts out the same.
mod v2 {
    use pgflow::prelude::*;

    #[flow(version = 2, slug = "parcel", input = u32)]
    pub(crate) mod parcel {
        use super::*;

        #[step]
        pub(crate) async fn weigh(run: u32) -> Result<u32> {
            Ok(run + 1)
        }

        #[step(depends_on = [weigh])]
        pub(crate) async fn send(weigh: u32) -> Result<String> {
            Ok(format!("two: {weigh}"))
        }
    }
}

/// One that takes something else.
mod v3 {
    use pgflow::prelude::*;

    #[flow(version = 3, slug = "parcel", input = String)]
    pub(crate) mod parcel {
        use super::*;

        #[step]
        pub(crate) async fn send(run: String) -> Result<String> {
            Ok(format!("three: {run}"))
        }
    }
}

everywhere!(
    an_old_program_never_starts_what_takes_another_input,
    an_old_program_uses_a_newer_version_that_is_the_same_from_outside,
    a_program_that_is_ahead_of_its_database_starts_nothing,
);

async fn an_old_program_never_starts_what_takes_another_input(fresh: Fresh) -> Outcome {
    let db = &fresh.db;
    db.register(v1::parcel::Flow).await?;
    let old = Working::start(Worker::new(db).flow(v1::parcel::Flow));
    db.register(v3::parcel::Flow).await?;
    let new = Working::start(Worker::new(db).flow(v3::parcel::Flow));
    let from_old = db.start(v1::parcel::Flow, &7).await?;
    let from_new = db.start(v3::parcel::Flow, &"seven".to_owned()).await?;
    assert_eq!(from_old.output().await?.send, "one: 7");
    assert_eq!(from_new.output().await?.send, "three: seven");
    old.stop().await?;
    new.stop().await?;
    Ok(())
}

async fn an_old_program_uses_a_newer_version_that_is_the_same_from_outside(
    fresh: Fresh,
) -> Outcome {
    let db = &fresh.db;
    db.register(v1::parcel::Flow).await?;
    db.register(v2::parcel::Flow).await?;
    let worker = Working::start(Worker::new(db).flow(v2::parcel::Flow));
    let run = db.start(v1::parcel::Flow, &7).await?;
    assert_eq!(run.output().await?.send, "two: 8");
    worker.stop().await?;
    Ok(())
}

async fn a_program_that_is_ahead_of_its_database_starts_nothing(fresh: Fresh) -> Outcome {
    fresh.db.register(v1::parcel::Flow).await?;
    let refused = fresh.db.start(v2::parcel::Flow, &7).await;
    let Err(ClientError::Backend(BackendError::UnknownVersion { flow, version })) = refused else {
        panic!("{refused:?}");
    };
    assert_eq!((flow.as_str(), version), ("parcel", 2));
    Ok(())
}
