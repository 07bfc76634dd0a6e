//! Rust code for a kind of job.

mod need;

use pgflow_syntax::{Errors, FlowItem, Job, JobItem, Need, Piece, check_job, pretty};
use proc_macro2::{Ident, TokenStream};
use quote::{ToTokens, quote};

use crate::expand::{Outside, as_written, late_errors, short, step_piece};
use crate::{pgflow_crate, storable};

/// The module as written, and what makes it a kind of job, or why it is none.
pub(crate) fn job(args: TokenStream, item: &TokenStream) -> TokenStream {
    let module = match syn::parse2::<JobItem>(item.clone()) {
        Ok(module) => module,
        Err(error) => {
            let error = error.into_compile_error();
            return quote!(#item #error);
        }
    };
    let mut errors = Errors::default();
    let job = check_job(args, &module, &mut errors);
    let expanded = match pgflow_crate::path(job.crate_path.as_ref()) {
        Ok(pgflow) => Expand { job: &job, pgflow, outside: Outside::of(&module.0.vis) }.module(),
        Err(why) => {
            errors.at(&module.0.ident, why);
            written(&module.0, &[], &TokenStream::new())
        }
    };
    let left = late_errors(&mut errors);
    let errors = errors.finish().map(syn::Error::into_compile_error);
    quote!(#expanded #errors #left)
}

/// A kind of job that is being expanded.
struct Expand<'a> {
    job: &'a Job<'a>,
    /// The path of the crate `pgflow`.
    pgflow: TokenStream,
    /// The visibility of something as visible as the module.
    outside: Outside,
}

/// The module as written, with `more` in it, and without the functions of needs that others handle.
fn written(item: &FlowItem, external: &[&Ident], more: &TokenStream) -> TokenStream {
    as_written("job", item, more, |piece| match piece {
        Piece::Step(step) if !step.has_body() && external.contains(&&step.sig.ident) => {
            TokenStream::new()
        }
        Piece::Step(step) => step_piece(step),
        other => other.to_token_stream(),
    })
}

impl Expand<'_> {
    fn module(&self) -> TokenStream {
        let (pgflow, short) = (&self.pgflow, short());
        let needs = || self.job.needs.iter().filter(|need| !need.is_duplicate);
        let external: Vec<_> =
            needs().filter(|need| need.external.is_some()).map(Need::name).collect();
        let (job_type, next) = (self.job_type(), self.next());
        let (table, storable) = (self.table(), self.storable());
        let needs = needs().map(|need| self.need(need));
        let more = quote! {
            #[allow(unused_imports)]
            use #pgflow::__private as #short;
            #job_type #next #table #storable #(#needs)*
        };
        written(self.job.item, &external, &more)
    }

    /// Payloads that have all traits, and cannot be stored nevertheless.
    fn storable(&self) -> Option<TokenStream> {
        let private = short().to_token_stream();
        let needs = self.job.needs.iter().filter(|need| !need.is_duplicate);
        let checks = needs.filter_map(|need| {
            let ty = need.payload()?;
            let what = format!("the payload of need `{}` is `{}`", need.name(), pretty(ty));
            storable::check(&what, ty, &private)
        });
        storable::constants(&checks.collect::<Vec<_>>(), &private)
    }

    fn job_type(&self) -> TokenStream {
        let (vis, name) = (&self.outside.tokens, &self.job.type_name);
        quote! {
            /// The kind of job that this module's needs are about.
            #[allow(clippy::redundant_pub_crate)]
            #[derive(::core::clone::Clone, ::core::marker::Copy, ::core::fmt::Debug)]
            #vis struct #name;
        }
    }

    /// What needs return: it knows which needs there are.
    fn next(&self) -> TokenStream {
        let (private, vis) = (short(), &self.outside.tokens);
        let (name, job) = (&self.job.next_name, &self.job.type_name);
        quote! {
            /// What comes next for a job of this kind.
            #[allow(dead_code, clippy::redundant_pub_crate)]
            #vis type #name = #private::Next<#job>;
        }
    }

    /// Its needs, as a worker sees them.
    fn table(&self) -> TokenStream {
        let (private, job, name) = (short(), &self.job.type_name, &self.job.name);
        let sound = self.job.needs.iter().filter(|need| need.is_sound);
        let needs = sound.map(Need::name);
        quote! {
            impl #private::Job for #job {
                const NAME: &'static str = #name;
                const NEEDS: &'static [&'static #private::NeedDef] =
                    &[#(<#needs as #private::Need>::DEF),*];
            }
        }
    }
}
