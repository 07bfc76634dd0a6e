//! A crate that denies what can be denied: nothing that is generated warns.
#![deny(warnings, clippy::all, clippy::pedantic, clippy::nursery)]
#![deny(future_incompatible, let_underscore, nonstandard_style, refining_impl_trait, unused)]
#![deny(
    absolute_paths_not_starting_with_crate,
    ambiguous_negative_literals,
    deprecated_in_future,
    elided_lifetimes_in_paths,
    explicit_outlives_requirements,
    impl_trait_redundant_captures,
    keyword_idents,
    macro_use_extern_crate,
    meta_variable_misuse,
    missing_abi,
    missing_copy_implementations,
    missing_debug_implementations,
    missing_docs,
    non_ascii_idents,
    redundant_imports,
    redundant_lifetimes,
    single_use_lifetimes,
    trivial_casts,
    trivial_numeric_casts,
    unit_bindings,
    unnameable_types,
    unreachable_pub,
    unsafe_code,
    unused_crate_dependencies,
    unused_extern_crates,
    unused_import_braces,
    unused_lifetimes,
    unused_macro_rules,
    unused_qualifications,
    unused_results,
    variant_size_differences
)]
#![allow(unused_crate_dependencies, reason = "the cases share their dependencies")]

use pgflow::prelude::*;
use pgflow::testing::{block_on, run};

/// A website.
#[data]
#[derive(Debug, Clone, Default)]
#[serde(rename_all = "camelCase")]
pub struct Site {
    /// Where it is.
    pub full_url: String,
    /// Who has it.
    #[serde(default)]
    pub owner: Option<Box<Owner>>,
}

/// Who has a website.
#[data]
#[derive(Debug, Clone, Default)]
pub struct Owner {
    /// What they have.
    pub sites: Vec<Site>,
}

/// How it went.
#[data]
#[derive(Debug, Clone, Copy)]
pub enum Status {
    /// Well.
    Fine,
    /// Not so well.
    Broken(u16),
}

/// A list without a schema.
#[data(schema = false)]
#[derive(Debug)]
pub struct List(Vec<u8>);

/// A public flow.
#[flow(input = Site, max_attempts = 3)]
pub mod analyze {
    use super::{Context, Result, Site, State, Status};

    /// Finds links.
    #[step(only_if = { "fullUrl": "/", "owner": null })]
    pub async fn links(run: Site) -> Result<Vec<String>> {
        Ok(vec![run.full_url])
    }

    /// Looks at a link.
    #[step(map, depends_on = [links], when_exhausted = skip)]
    pub async fn check(item: String, ctx: Context) -> Result<Status> {
        let _ = ctx.attempt();
        Ok(if item.is_empty() { Status::Broken(404) } else { Status::Fine })
    }

    #[step(depends_on = [check as found], timeout = "1m")]
    async fn count(found: Option<Vec<Status>>, State(more): State<usize>) -> Result<usize> {
        Ok(found.map_or(0, |found| found.len()) + more)
    }

    /// Reports.
    #[step(depends_on = [count, links], unless = { "count": 7 }, when_unmet = skip_cascade)]
    pub(crate) async fn report(count: usize) -> Result<String, std::fmt::Error> {
        Ok(count.to_string())
    }
}

#[flow(input = Vec<u8>, schema = false)]
mod private {
    use super::{List, Result};

    #[step(map)]
    async fn each(item: u8) -> Result<u8> {
        Ok(item)
    }

    #[step(depends_on = [each])]
    async fn all(each: Vec<u8>) -> Result<List> {
        Ok(List(each))
    }
}

fn main() {
    let site = Site { full_url: "/".to_owned(), owner: None };
    let runner = pgflow::testing::Runner::default().state(1_usize);
    let ran = block_on(runner.run(analyze::Flow, site)).expect("it runs");
    assert_eq!(ran.output().expect("its output").report.as_deref(), Some("2"));
    let ran = block_on(run(private::Flow, vec![1, 2])).expect("it runs");
    assert_eq!(ran.output().expect("its output").all.0, [1, 2]);
}
