#![feature(prelude_import)]
//! The flow whose expansion is reviewed.
extern crate std;
#[prelude_import]
use std::prelude::rust_2024::*;

use pgflow::prelude::*;

pub mod analyze_text {
    use super::*;

    #[allow(clippy :: unused_async, clippy :: missing_errors_doc)]
    async fn words(run: String) -> Result<Vec<String>> {
        Ok(run.split_whitespace().map(str::to_owned).collect())
    }

    #[allow(clippy :: unused_async, clippy :: missing_errors_doc)]
    async fn length(item: String, ctx: Context) -> Result<usize> {
        Ok(item.len() * ctx.attempt() as usize)
    }

    #[allow(clippy :: unused_async, clippy :: missing_errors_doc)]
    async fn longest(words: Vec<String>) -> Result<Option<String>> {
        Ok(words.into_iter().max_by_key(String::len))
    }

    #[allow(clippy :: unused_async, clippy :: missing_errors_doc)]
    async fn total(lengths: Vec<usize>) -> Result<usize> {
        Ok(lengths.into_iter().sum())
    }

    #[allow(clippy :: unused_async, clippy :: missing_errors_doc)]
    async fn report(run: String, longest: Option<Option<String>>,
        total: usize) -> Result<String> {
        Ok(::alloc::__export::must_use({
                    ::alloc::fmt::format(format_args!("{1}: {2}, {0}",
                            longest.flatten().unwrap_or_default(), run, total))
                }))
    }
    #[doc = r" The flow made of this module's steps."]
    #[allow(clippy :: redundant_pub_crate)]
    pub struct Flow;
    #[automatically_derived]
    #[doc(hidden)]
    #[allow(clippy :: redundant_pub_crate)]
    unsafe impl ::core::clone::TrivialClone for Flow { }
    #[automatically_derived]
    #[allow(clippy :: redundant_pub_crate)]
    impl ::core::clone::Clone for Flow {
        #[inline]
        fn clone(&self) -> Flow { *self }
    }
    #[automatically_derived]
    #[allow(clippy :: redundant_pub_crate)]
    impl ::core::marker::Copy for Flow { }
    #[automatically_derived]
    #[allow(clippy :: redundant_pub_crate)]
    impl ::core::fmt::Debug for Flow {
        #[inline]
        fn fmt(&self, f: &mut ::core::fmt::Formatter) -> ::core::fmt::Result {
            ::core::fmt::Formatter::write_str(f, "Flow")
        }
    }
    #[doc =
    r" What a run of this flow ends with: the output of each step that no other depends on."]
    #[allow(private_interfaces)]
    pub struct Output {
        #[doc = "Output of step `report`."]
        pub report: String,
    }
    impl Output {
        #[doc(hidden)]
        pub(super) fn __read(run: &::pgflow::RunOutputs<Flow>)
            -> ::core::result::Result<Self, ::pgflow::DataError> {
            let __read_0 = Self::__read_0(run)?;
            ::core::result::Result::Ok(Self { report: __read_0.0 })
        }
        fn __read_0(run: &::pgflow::RunOutputs<Flow>)
            -> ::core::result::Result<(String,), ::pgflow::DataError> {
            ::core::result::Result::Ok((run.leaf::<report>()?,))
        }
        fn __write(&self)
            ->
                ::core::result::Result<::pgflow::__private::Value,
                ::pgflow::DataError> {
            let mut leaves = ::pgflow::__private::Leaves::default();
            leaves.one::<report>(&self.report)?;
            ::core::result::Result::Ok(leaves.finish())
        }
    }
    impl ::core::fmt::Debug for Output {
        fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>)
            -> ::core::fmt::Result {
            let json = self.__write().map_err(|_| ::core::fmt::Error)?;
            ::core::fmt::Display::fmt(&json, f)
        }
    }
    impl ::pgflow_runtime::__private::serde::Serialize for Output {
        fn serialize<S: ::pgflow_runtime::__private::serde::Serializer>(&self,
            serializer: S) -> ::core::result::Result<S::Ok, S::Error> {
            let json =
                self.__write().map_err(::pgflow_runtime::__private::serde::ser::Error::custom)?;
            ::pgflow_runtime::__private::serde::Serialize::serialize(&json,
                serializer)
        }
    }
    impl Flow {
        pub(super) const __STEPS: &'static [::pgflow::StepDef] =
            &[<words as ::pgflow::Step>::DEF, <length as ::pgflow::Step>::DEF,
                        <longest as ::pgflow::Step>::DEF,
                        <total as ::pgflow::Step>::DEF,
                        <report as ::pgflow::Step>::DEF];
    }
    #[doc(hidden)]
    #[doc = "`async fn words(run: String) -> Result<Vec<String>>`"]
    #[allow(non_camel_case_types, dead_code, missing_copy_implementations,
    missing_debug_implementations)]
    enum words {}
    impl ::pgflow::Step for words {
        type Flow = Flow;
        type TaskOutput = Vec<String>;
        type Output = Vec<String>;
        const SLUG: &'static str = "words";
        const JSON: ::pgflow::__private::Json<Vec<String>, Vec<String>> =
            ::pgflow::__private::Json {
                read: <Vec<String> as
                    ::pgflow::check::ReadBack<Self>>::read::<>,
                write: <Vec<String> as
                    ::pgflow::check::Stored<Self>>::write::<>,
            };
        const DEF: ::pgflow::StepDef =
            ::pgflow::StepDef {
                slug: "words",
                output_type: "Vec<String>",
                takes_run: true,
                output_schema: ::core::option::Option::Some(<Vec<String> as
                        ::pgflow::check::Described<words>>::schema::<>),
                call: __call_words,
                ..::pgflow::StepDef::PLAIN
            };
    }
    fn __call_words(task: &::pgflow::Task) -> ::pgflow::__private::Called {
        ::pgflow::__private::future::<words, _,
                _>(::std::boxed::Box::pin(words(<<Flow as
                                ::pgflow::__private::Itself>::Itself<> as
                                ::pgflow::check::HasInput<String,
                                <Flow as ::pgflow::Flow>::Input, words>>::take::<>(task)?)),
            <_ as ::pgflow::check::IsResult<_, _, words>>::into_result::<>,
            <_ as ::pgflow::check::Reported<words>>::report::<>)
    }
    #[doc(hidden)]
    #[doc = "`async fn length(item: String, ctx: Context) -> Result<usize>`"]
    #[allow(non_camel_case_types, dead_code, missing_copy_implementations,
    missing_debug_implementations)]
    enum length {}
    impl ::pgflow::Step for length {
        type Flow = Flow;
        type TaskOutput = usize;
        type Output = ::std::vec::Vec<usize>;
        const SLUG: &'static str = "length";
        const JSON: ::pgflow::__private::Json<usize, ::std::vec::Vec<usize>> =
            ::pgflow::__private::Json {
                read: <usize as
                    ::pgflow::check::ReadBack<Self>>::read_all::<>,
                write: <usize as ::pgflow::check::Stored<Self>>::write::<>,
            };
        const DEF: ::pgflow::StepDef =
            ::pgflow::StepDef {
                slug: "length",
                kind: ::pgflow::__private::StepKind::Map,
                depends_on: &[<words as ::pgflow::Step>::SLUG],
                output_type: "usize",
                output_schema: ::core::option::Option::Some(<usize as
                        ::pgflow::check::Described<length>>::schema::<>),
                call: __call_length,
                ..::pgflow::StepDef::PLAIN
            };
    }
    fn __call_length(task: &::pgflow::Task) -> ::pgflow::__private::Called {
        let _ = words;
        ::pgflow::__private::future::<length, _,
                _>(::std::boxed::Box::pin(length(<<words as
                            ::pgflow::__private::Itself>::Itself<> as
                            ::pgflow::check::OutputsItems<String,
                            <words as
                            ::pgflow::check::OutputsSequence<<words as
                            ::pgflow::Step>::Output, length>>::Item<>,
                            length>>::pass::<>(task.item(<String as
                                    ::pgflow::check::ReadItem<length>>::read::<>)?),
                    <Context as
                                ::pgflow::check::IsContext<length>>::from_task::<>(task)?)),
            <_ as ::pgflow::check::IsResult<_, _, length>>::into_result::<>,
            <_ as ::pgflow::check::Reported<length>>::report::<>)
    }
    #[doc(hidden)]
    #[doc =
    "`async fn longest(words: Vec<String>) -> Result<Option<String>>`"]
    #[allow(non_camel_case_types, dead_code, missing_copy_implementations,
    missing_debug_implementations)]
    enum longest {}
    impl ::pgflow::Step for longest {
        type Flow = Flow;
        type TaskOutput = Option<String>;
        type Output = Option<String>;
        const SLUG: &'static str = "longest";
        const JSON: ::pgflow::__private::Json<Option<String>, Option<String>>
            =
            ::pgflow::__private::Json {
                read: <Option<String> as
                    ::pgflow::check::ReadBack<Self>>::read::<>,
                write: <Option<String> as
                    ::pgflow::check::Stored<Self>>::write::<>,
            };
        const DEF: ::pgflow::StepDef =
            ::pgflow::StepDef {
                slug: "longest",
                depends_on: &[<words as ::pgflow::Step>::SLUG],
                when_exhausted: ::pgflow::__private::OnSkip::Skip,
                options: ::pgflow::__private::StepOptions {
                    timeout: ::core::option::Option::Some(30u32),
                    ..::pgflow::__private::StepOptions::INHERIT
                },
                output_type: "Option<String>",
                output_schema: ::core::option::Option::Some(<Option<String> as
                        ::pgflow::check::Described<longest>>::schema::<>),
                call: __call_longest,
                ..::pgflow::StepDef::PLAIN
            };
    }
    fn __call_longest(task: &::pgflow::Task) -> ::pgflow::__private::Called {
        let _ = words;
        ::pgflow::__private::future::<longest, _,
                _>(::std::boxed::Box::pin(longest(<<words as
                                ::pgflow::__private::Itself>::Itself<> as
                                ::pgflow::check::Outputs<Vec<String>,
                                <words as ::pgflow::Step>::Output,
                                longest>>::take::<>(task)?)),
            <_ as ::pgflow::check::IsResult<_, _, longest>>::into_result::<>,
            <_ as ::pgflow::check::Reported<longest>>::report::<>)
    }
    #[doc(hidden)]
    #[doc = "`async fn total(lengths: Vec<usize>) -> Result<usize>`"]
    #[allow(non_camel_case_types, dead_code, missing_copy_implementations,
    missing_debug_implementations)]
    enum total {}
    impl ::pgflow::Step for total {
        type Flow = Flow;
        type TaskOutput = usize;
        type Output = usize;
        const SLUG: &'static str = "total";
        const JSON: ::pgflow::__private::Json<usize, usize> =
            ::pgflow::__private::Json {
                read: <usize as ::pgflow::check::ReadBack<Self>>::read::<>,
                write: <usize as ::pgflow::check::Stored<Self>>::write::<>,
            };
        const DEF: ::pgflow::StepDef =
            ::pgflow::StepDef {
                slug: "total",
                depends_on: &[<length as ::pgflow::Step>::SLUG],
                output_type: "usize",
                output_schema: ::core::option::Option::Some(<usize as
                        ::pgflow::check::Described<total>>::schema::<>),
                call: __call_total,
                ..::pgflow::StepDef::PLAIN
            };
    }
    fn __call_total(task: &::pgflow::Task) -> ::pgflow::__private::Called {
        let _ = length;
        ::pgflow::__private::future::<total, _,
                _>(::std::boxed::Box::pin(total(<<length as
                                ::pgflow::__private::Itself>::Itself<> as
                                ::pgflow::check::OutputsAll<Vec<usize>,
                                <length as ::pgflow::Step>::Output,
                                total>>::take::<>(task)?)),
            <_ as ::pgflow::check::IsResult<_, _, total>>::into_result::<>,
            <_ as ::pgflow::check::Reported<total>>::report::<>)
    }
    #[doc(hidden)]
    #[doc =
    "`async fn report(run: String, longest: Option<Option<String>>, total: usize) -> Result<String>`"]
    #[allow(non_camel_case_types, dead_code, missing_copy_implementations,
    missing_debug_implementations)]
    enum report {}
    impl ::pgflow::Step for report {
        type Flow = Flow;
        type TaskOutput = String;
        type Output = String;
        const SLUG: &'static str = "report";
        const JSON: ::pgflow::__private::Json<String, String> =
            ::pgflow::__private::Json {
                read: <String as ::pgflow::check::ReadBack<Self>>::read::<>,
                write: <String as ::pgflow::check::Stored<Self>>::write::<>,
            };
        const DEF: ::pgflow::StepDef =
            ::pgflow::StepDef {
                slug: "report",
                depends_on: &[<longest as ::pgflow::Step>::SLUG,
                            <total as ::pgflow::Step>::SLUG],
                output_type: "String",
                takes_run: true,
                output_schema: ::core::option::Option::Some(<String as
                        ::pgflow::check::Described<report>>::schema::<>),
                call: __call_report,
                ..::pgflow::StepDef::PLAIN
            };
    }
    fn __call_report(task: &::pgflow::Task) -> ::pgflow::__private::Called {
        let _ = longest;
        let _ = total;
        ::pgflow::__private::future::<report, _,
                _>(::std::boxed::Box::pin(report(<<Flow as
                                ::pgflow::__private::Itself>::Itself<> as
                                ::pgflow::check::HasInput<String,
                                <Flow as ::pgflow::Flow>::Input, report>>::take::<>(task)?,
                    <<longest as ::pgflow::__private::Itself>::Itself<> as
                                ::pgflow::check::MayOutput<Option<Option<String>>,
                                <longest as ::pgflow::Step>::Output,
                                report>>::take::<>(task)?,
                    <<total as ::pgflow::__private::Itself>::Itself<> as
                                ::pgflow::check::Outputs<usize,
                                <total as ::pgflow::Step>::Output,
                                report>>::take::<>(task)?)),
            <_ as ::pgflow::check::IsResult<_, _, report>>::into_result::<>,
            <_ as ::pgflow::check::Reported<report>>::report::<>)
    }
}
impl ::pgflow::Flow for analyze_text::Flow {
    type Input = String;
    type Output = analyze_text::Output;
    const SLUG: &'static str = "analyze_text";
    const DEF: &'static ::pgflow::FlowDef =
        &::pgflow::FlowDef {
                slug: "analyze_text",
                version: 1u32,
                version_slug: "analyze_text",
                finishes: &[],
                options: ::pgflow::__private::StepOptions {
                    max_attempts: ::core::option::Option::Some(3u32),
                    ..::pgflow::__private::StepOptions::INHERIT
                },
                input_type: ::core::option::Option::Some("String"),
                input_schema: ::core::option::Option::Some(<String as
                        ::pgflow::check::DescribedInput<Self>>::schema::<>),
                steps: Self::__STEPS,
            };
    const JSON: ::pgflow::__private::Json<String, String> =
        ::pgflow::__private::Json {
            read: <String as ::pgflow::check::StoredInput<Self>>::read::<>,
            write: <String as ::pgflow::check::StoredInput<Self>>::write::<>,
        };
    const READ_OUTPUT:
        fn(&::pgflow::RunOutputs<Self>)
            -> ::core::result::Result<Self::Output, ::pgflow::DataError> =
        analyze_text::Output::__read;
}
