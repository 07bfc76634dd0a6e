//! What the tests of worker and client share: a fresh database of every kind, and a worker that stops when told
//! to.

#![forbid(unsafe_code)]

mod flaky;
mod fresh;
mod working;

pub use flaky::{Flaky, Mood, virtual_memory};
pub use fresh::Fresh;
pub use working::Working;

/// What a test returns.
pub type Outcome<T = ()> = Result<T, Box<dyn std::error::Error + Send + Sync>>;

/// Makes each function a test per backend.
#[macro_export]
macro_rules! everywhere {
    ($($test:ident),+ $(,)?) => {
        $crate::on!(memory: $($test),+);
        $crate::on!(sqlite: $($test),+);
        $crate::on!(mysql: $($test),+);
        $crate::on!(postgres: $($test),+);
    };
}

/// Makes each function a test on one backend.
#[macro_export]
macro_rules! on {
    ($backend:ident: $($test:ident),+ $(,)?) => {
        mod $backend {
            $(#[tokio::test(flavor = "multi_thread")]
            async fn $test() -> $crate::Outcome {
                super::$test($crate::Fresh::$backend().await?).await
            })+
        }
    };
}
