//! Rust code for a flow.
//!
//! The checks are not separate items: each is the expression that does the work, such as
//! `<fetch_user as Outputs<User, …>>::pass(…)`, so a rule and the code relying on it cannot part.

mod argument;
mod condition;
mod output;
mod step;
mod table;
mod visibility;

use pgflow_syntax::{Errors, Flow, FlowItem, Piece, check, pretty};
use proc_macro2::{Ident, Span, TokenStream};
use quote::{ToTokens, quote};

use crate::deployed::Deployed;
use crate::pgflow_crate;
use crate::span::{Ends, Member, SHORT, marker};
use table::options;
use visibility::Outside;

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
    let flow = check(args, &module, &mut errors);
    let deployed = Deployed::find(&flow, &mut errors);
    let expanded = match pgflow_crate::path(flow.crate_path.as_ref()) {
        Ok(pgflow) => {
            let outside = Outside::of(&module.vis);
            Expand { flow: &flow, deployed: &deployed, pgflow, outside }.module()
        }
        Err(why) => {
            errors.at(&module.ident, why);
            as_written(&module, &TokenStream::new())
        }
    };
    let errors = errors.finish().map(syn::Error::into_compile_error);
    quote!(#expanded #errors)
}

/// A flow that is being expanded.
struct Expand<'a> {
    flow: &'a Flow<'a>,
    deployed: &'a Deployed,
    /// The path of the crate `pgflow`.
    pgflow: TokenStream,
    /// The visibility of something as visible as the module.
    outside: Outside,
}

/// The module as written, without `#[step]`, and with `more` in it.
fn as_written(item: &FlowItem, more: &TokenStream) -> TokenStream {
    let FlowItem { attrs, vis, mod_token, ident, braces, content, .. } = item;
    let content = content.iter().map(|piece| match piece {
        // A step is `async` and may fail because all of them are, whatever it does.
        Piece::Step(step) => {
            quote!(#[allow(clippy::unused_async, clippy::missing_errors_doc)] #step)
        }
        other => quote!(#other),
    });
    let mut body = TokenStream::new();
    braces.surround(&mut body, |body| body.extend(quote!(#(#content)* #more)));
    quote!(#(#attrs)* #vis #mod_token #ident #body)
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
        let more = quote!(#imported #flow_type #output #table #(#steps)*);
        let module = as_written(self.flow.item, &more);
        let impl_flow = self.impl_flow();
        let tracked = &self.deployed.tracked;
        quote!(#module #impl_flow #tracked)
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
        quote! {
            impl #pgflow::Flow for #module::#flow_type {
                type Input = #input;
                type Output = #module::#output;
                const SLUG: &'static str = #slug;
                const ABOUT: #pgflow::FlowDef = #pgflow::FlowDef {
                    #version
                    options: #options,
                    input_type: #input_type,
                    ..#pgflow::FlowDef::PLAIN
                };
                const KEPT: fn() -> #private::Kept<#input, #input> = #kept;
                const READ_OUTPUT: fn(&#pgflow::RunOutputs<Self>) -> ::core::result::Result<Self::Output, #pgflow::DataError> = #module::#output::__read;
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

/// What generated code inside the module calls `pgflow::__private`.
fn short() -> Ident {
    Ident::new(SHORT, Span::call_site())
}
