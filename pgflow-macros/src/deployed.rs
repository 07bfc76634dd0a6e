//! Which version of its flow a module is, by `pgflow.lock`.

use std::fs;
use std::path::{Path, PathBuf};

use pgflow_model::{Finishable, Lock, version_slug};
use pgflow_syntax::{Errors, Flow, Standing, standing};
use proc_macro2::TokenStream;
use quote::quote;

use crate::drift;

/// What the migrations make of a flow.
pub(crate) struct Deployed {
    version: u32,
    finishes: Vec<Finishable>,
    /// Code that makes cargo compile the crate again when the file changes.
    pub(crate) tracked: Option<TokenStream>,
    /// Whether the file knows the flow, so that it runs somewhere.
    pub(crate) is_known: bool,
}

impl Deployed {
    /// Looks a flow up, and reports what its migrations do not have.
    ///
    /// Without the file, a crate has no generated migrations, and there is nothing to compare.
    pub(crate) fn find(flow: &Flow<'_>, errors: &mut Errors) -> Self {
        let mut found = Self {
            version: flow.version().unwrap_or(1),
            finishes: Vec::new(),
            tracked: None,
            is_known: false,
        };
        let read = lock_path().and_then(|path| Some((fs::read_to_string(&path).ok()?, path)));
        let Some((text, path)) = read else {
            without_versions(flow, errors);
            return found;
        };
        found.tracked = tracked(&path);
        match text.parse::<Lock>() {
            Ok(lock) => found.compare(flow, &lock, errors),
            Err(why) => errors.at(&flow.item.ident, why.to_string()),
        }
        found
    }

    fn compare(&mut self, flow: &Flow<'_>, lock: &Lock, errors: &mut Errors) {
        if errors.is_empty()
            && drift::is_wanted()
            && let Standing::Known { locked, changes, impact } = standing(flow, lock, errors)
        {
            drift::report(flow, locked, &changes, impact, errors);
        }
        let newest = lock.newest(&flow.slug).map(|locked| locked.version);
        self.is_known = newest.is_some();
        self.version = flow.version().or(newest).unwrap_or(1);
        self.finishes = lock.finishable(&flow.slug, self.version);
    }

    /// The fields of a `FlowDef` that say so.
    pub(crate) fn fields(&self, pgflow: &TokenStream, flow: &str) -> TokenStream {
        let version = self.version;
        let slug = |version| version_slug(flow, version).unwrap_or_else(|_| flow.to_owned());
        let version_slug = slug(version);
        let finishes = self.finishes.iter().map(|Finishable { version, renamed }| {
            let (version_slug, renamed) =
                (slug(*version), renamed.iter().map(|(old, new)| quote!((#old, #new))));
            quote!(#pgflow::definition::Finishes {
                version: #version,
                version_slug: #version_slug,
                renamed: &[#(#renamed),*],
            })
        });
        quote! {
            version: #version,
            version_slug: #version_slug,
            finishes: &[#(#finishes),*],
        }
    }
}

/// Without the file there are no versions, and nothing that another format could be.
fn without_versions(flow: &Flow<'_>, errors: &mut Errors) {
    if let Some(format) = &flow.format {
        errors.at(
            format,
            "`format` asks for a new version of the flow, and versions are made by migrations: there is no `pgflow.lock`\n\
             help: let `pgflow_build` write migrations in a `build.rs`, or leave `format` away",
        );
    }
}

fn lock_path() -> Option<PathBuf> {
    Some(PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR")?).join("pgflow.lock"))
}

fn tracked(path: &Path) -> Option<TokenStream> {
    let path = path.to_str()?;
    Some(quote!(
        const _: &[u8] = ::core::include_bytes!(#path);
    ))
}
