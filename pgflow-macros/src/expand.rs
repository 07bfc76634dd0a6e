//! Rust code for a flow.
//!
//! The checks are not separate items: each is the expression that does the work, such as
//! `<fetch_user as OutputsOne<User, …>>::pass(…)`, so a rule and the code relying on it cannot part.

mod argument;
mod condition;
mod editor;
mod mended;
mod output;
mod step;
mod storable;
mod table;
mod visibility;

use pgflow_syntax::{Errors, Flow, FlowItem, Piece, Schedule, StepItem, check, is_attr, pretty};
use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote, quote_spanned};
use syn::LitStr;

use crate::deployed::Deployed;
use crate::editor::is_editor;
use crate::span::{Ends, Member, SHORT, marker};
use crate::{pgflow_crate, slugs};
use table::options;
pub(crate) use visibility::Outside;

/// The module as written, and what makes it a flow, or why it is none.
pub(crate) fn flow(args: TokenStream, item: &TokenStream) -> TokenStream {
    let module = match syn::parse2::<FlowItem>(item.clone()) {
        Ok(module) => module,
        Err(error) => {
            let error = error.into_compile_error();
            return quote!(#item #error);
        }
    };
    let mut errors = Errors::default();
    let flow = check(args.clone(), &module, &mut errors);
    slugs::check(&flow, &mut errors);
    let deployed = Deployed::find(&flow, &mut errors);
    let expanded = match pgflow_crate::path(flow.crate_path.as_ref()) {
        Ok(pgflow) => {
            let outside = Outside::of(&module.vis);
            Expand { args, flow: &flow, deployed: &deployed, pgflow, outside }.module()
        }
        Err(why) => {
            errors.at(&module.ident, why);
            as_written("flow", &module, &TokenStream::new(), piece)
        }
    };
    let left = late_errors(&mut errors);
    let errors = errors.finish().map(syn::Error::into_compile_error);
    quote!(#expanded #errors #left)
}

/// What the compiler has its own words for.
pub(crate) fn late_errors(errors: &mut Errors) -> TokenStream {
    let left = errors.take_left_to_compiler();
    if is_editor() { TokenStream::new() } else { left.iter().map(late_error).collect() }
}

/// An error that the compiler reports only where it has nothing else to report: it has said so already,
/// in its own words.
fn late_error(error: &syn::Error) -> TokenStream {
    let message = error.to_string();
    let call = quote_spanned!(error.span()=> step());
    quote! {
        const _: () = {
            #[must_use = #message]
            fn step() {}
            // This lint comes last of all.
            #[allow(dead_code)]
            #[deny(unused_must_use)]
            fn unreadable() {
                #call;
            }
        };
    }
}

/// A flow that is being expanded.
struct Expand<'a> {
    /// What is in the parentheses of `#[flow(…)]`.
    args: TokenStream,
    flow: &'a Flow<'a>,
    deployed: &'a Deployed,
    /// The path of the crate `pgflow`.
    pgflow: TokenStream,
    /// The visibility of something as visible as the module.
    outside: Outside,
}

/// The module as written, without the attributes that are ours, and with `more` in it.
pub(crate) fn as_written(
    word: &str,
    item: &FlowItem,
    more: &TokenStream,
    piece: impl Fn(&Piece) -> TokenStream,
) -> TokenStream {
    let FlowItem { attrs, vis, mod_token, ident, braces, content, .. } = item;
    let attrs = attrs.iter().filter(|attr| !is_attr(attr, word));
    let content = content.iter().map(piece);
    let mut body = TokenStream::new();
    braces.surround(&mut body, |body| body.extend(quote!(#(#content)* #more)));
    quote!(#(#attrs)* #vis #mod_token #ident #body)
}

fn piece(piece: &Piece) -> TokenStream {
    match piece {
        Piece::Step(step) => step_piece(step),
        other => other.to_token_stream(),
    }
}

/// A function: it is `async` and may fail because all of them are, whatever it does.
pub(crate) fn step_piece(step: &StepItem) -> TokenStream {
    let step = mended::function(step);
    quote!(#[allow(clippy::unused_async, clippy::missing_errors_doc)] #step)
}

impl Expand<'_> {
    /// The module as written, plus what makes it a flow.
    fn module(&self) -> TokenStream {
        let (flow_type, output, table) = (self.flow_type(), self.output(), self.table());
        let steps = self.flow.steps.iter().zip(self.places());
        let steps = steps.filter(|(step, _)| !step.is_duplicate);
        let steps = steps.map(|(step, place)| self.step(step, place));
        let (pgflow, short) = (&self.pgflow, short());
        // A name of one word for what every step uses: paths are a good part of what is compiled.
        let imported = quote!(#[allow(unused_imports)] use #pgflow::__private as #short;);
        let (storable, schema_test) = (self.storable(), self.schema_test());
        let conditions = self.conditions();
        let for_editor = self.for_editor();
        let more = quote!(
            #imported #flow_type #output #table #storable #(#steps)* #conditions #schema_test #for_editor
        );
        let module = as_written("flow", self.flow.item, &more, piece);
        let impl_flow = self.impl_flow();
        let tracked = &self.deployed.tracked;
        let storable = self.storable_input(&quote!(#pgflow::__private));
        quote!(#module #impl_flow #storable #tracked)
    }

    /// A test of what runs store, for a flow that has some: only compiled code knows that.
    fn schema_test(&self) -> Option<TokenStream> {
        let (private, flow_type) = (short(), &self.flow.type_name);
        let is_wanted = self.deployed.is_known && self.flow.has_schema && !is_editor();
        is_wanted.then(|| {
            quote! {
                #[cfg(test)]
                #[::core::prelude::v1::test]
                fn __pgflow_schemas() {
                    let flow = <#flow_type as #private::Flow>::DEF;
                    #private::assert_readable(::core::env!("CARGO_MANIFEST_DIR"), flow);
                }
            }
        })
    }

    /// The type that stands for the flow. The compiler shows `input = …` as its definition.
    fn flow_type(&self) -> TokenStream {
        let shown = self.flow.input.as_ref().map(|(word, ty)| Ends::of(quote!(#word #ty)));
        let vis = &self.outside.tokens;
        let flow_type = marker(vis, "struct", &self.flow.type_name, &quote!(;), shown);
        quote! {
            /// The flow made of this module's steps.
            #[allow(clippy::redundant_pub_crate)]
            #[derive(::core::clone::Clone, ::core::marker::Copy, ::core::fmt::Debug)]
            #flow_type
        }
    }

    /// `impl Flow`, outside the module so that the input's type means what it meant where it was
    /// written.
    fn impl_flow(&self) -> TokenStream {
        let Self { flow, deployed, pgflow, .. } = self;
        let version = deployed.fields(pgflow, &flow.slug);
        let (module, slug) = (&flow.item.ident, &flow.slug);
        let (flow_type, output) = (&flow.type_name, &flow.output_name);
        let input = flow.input.as_ref().map_or_else(|| quote!(()), |(_, ty)| ty.to_token_stream());
        let input_type = flow.input.as_ref().map_or_else(
            || quote!(::core::option::Option::None),
            |(_, ty)| {
                let ty = pretty(ty);
                quote!(::core::option::Option::Some(#ty))
            },
        );
        let private = quote!(#pgflow::__private);
        let options = options(&private, flow.options);
        let kept = self.kept_input(&private, &input);
        let schedule = flow.schedule.as_ref().map(|schedule| declared(&private, schedule));
        quote! {
            #[diagnostic::do_not_recommend]
            impl #pgflow::Flow for #module::#flow_type {
                type Input = #input;
                type Output = #module::#output;
                const SLUG: &'static str = #slug;
                const ABOUT: #pgflow::definition::FlowDef = #pgflow::definition::FlowDef {
                    #version
                    options: #options,
                    input_type: #input_type,
                    #schedule
                    ..#pgflow::definition::FlowDef::PLAIN
                };
                const KEPT: fn() -> #private::Kept<#input, #input> = #kept;
                const READ_OUTPUT: fn(&#pgflow::definition::RunOutputs<Self>) -> ::core::result::Result<Self::Output, #pgflow::definition::DataError> = #module::#output::__read;
            }
        }
    }

    /// How the run's input is kept.
    fn kept_input(&self, private: &TokenStream, input: &TokenStream) -> TokenStream {
        let rule = if self.flow.has_schema {
            quote!(#private::StoredInput<Self>)
        } else {
            quote!(#private::StoredInputWithoutSchema<Self>)
        };
        Member { ty: input, rule: &rule, name: "kept", shown: Ends::of(input) }.to_token_stream()
    }
}

/// When the flow starts by itself. What makes an input is written where the attribute is, and means what it means there.
fn declared(private: &TokenStream, schedule: &Schedule) -> TokenStream {
    let Schedule { cron, timezone, missed, overlap, input } = schedule;
    let or = |said: &Option<LitStr>, default: &str| {
        said.as_ref().map_or_else(|| default.to_owned(), LitStr::value)
    };
    let [timezone, missed, overlap] =
        [or(timezone, "UTC"), or(missed, "last"), or(overlap, "allow")];
    let cron = cron.value();
    let input = input.as_ref().map_or_else(|| quote!(()), ToTokens::to_token_stream);
    quote! {
        schedule: ::core::option::Option::Some(#private::ScheduleDef {
            cron: #cron,
            timezone: #timezone,
            missed: #missed,
            overlap: #overlap,
            input: || #private::scheduled::<Self>(|| #input),
        }),
    }
}

/// What generated code inside the module calls `pgflow::__private`.
pub(crate) fn short() -> Ident {
    Ident::new(SHORT, Span::call_site())
}
