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
    #[allow(unused_imports)]
    use ::pgflow::__private as __pgflow;
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
        pub(super) fn __read(run: &__pgflow::RunOutputs<Flow>)
            -> ::core::result::Result<Self, __pgflow::DataError> {
            let __read_0 = Self::__read_0(run)?;
            ::core::result::Result::Ok(Self { report: __read_0.0 })
        }
        fn __read_0(run: &__pgflow::RunOutputs<Flow>)
            -> ::core::result::Result<(String,), __pgflow::DataError> {
            ::core::result::Result::Ok((run.leaf::<report>()?,))
        }
        fn __write(&self)
            -> ::core::result::Result<__pgflow::Value, __pgflow::DataError> {
            let mut leaves = __pgflow::Leaves::default();
            leaves.one::<report>(&self.report)?;
            ::core::result::Result::Ok(leaves.finish())
        }
    }
    impl<'de> ::pgflow_runtime::__private::serde::Deserialize<'de> for Output
        {
        fn deserialize<D: ::pgflow_runtime::__private::serde::Deserializer<'de>>(json:
                D) -> ::core::result::Result<Self, D::Error> {
            ::pgflow_runtime::__private::read_output::<Flow, D>(json)
        }
    }
    impl ::pgflow_runtime::__private::schemars::JsonSchema for Output {
        fn schema_name() -> ::std::borrow::Cow<'static, str> {
            ::pgflow_runtime::__private::outputs_name(<Flow as
                    ::pgflow_runtime::__private::Flow>::SLUG)
        }
        fn json_schema(generator:
                &mut ::pgflow_runtime::__private::schemars::SchemaGenerator)
            -> ::pgflow_runtime::__private::schemars::Schema {
            ::pgflow_runtime::__private::outputs_schema(<Flow as
                    ::pgflow_runtime::__private::Flow>::DEF, generator)
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
    impl<__Any> __pgflow::Table<__Any> for Flow {
        const STEPS: &'static [__pgflow::StepDef] =
            &[__pgflow::StepDef::of("words", &[], "Vec<String>",
                                <Vec<String> as __pgflow::Stored<words>>::kept::<>,
                                __call_words).takes_run(),
                        __pgflow::StepDef::of("length", &["words"], "usize",
                                <usize as __pgflow::Stored<length>>::kept_all::<>,
                                __call_length).map(),
                        __pgflow::StepDef::of("longest", &["words"],
                                    "Option<String>",
                                    <Option<String> as __pgflow::Stored<longest>>::kept::<>,
                                    __call_longest).when_exhausted(__pgflow::OnSkip::Skip).options(__pgflow::StepOptions {
                                timeout: ::core::option::Option::Some(30u32),
                                ..__pgflow::StepOptions::INHERIT
                            }),
                        __pgflow::StepDef::of("total", &["length"], "usize",
                            <usize as __pgflow::Stored<total>>::kept::<>, __call_total),
                        __pgflow::StepDef::of("report", &["longest", "total"],
                                "String", <String as __pgflow::Stored<report>>::kept::<>,
                                __call_report).takes_run()];
    }
    #[doc(hidden)]
    #[doc = "`async fn words(run: String) -> Result<Vec<String>>`"]
    #[allow(non_camel_case_types, dead_code, missing_copy_implementations,
    missing_debug_implementations)]
    enum words {}
    #[diagnostic::do_not_recommend]
    impl __pgflow::Step for words {
        type Flow = Flow;
        type At = __pgflow::D0;
        type TaskOutput = Vec<String>;
        type Output = Vec<String>;
    }
    fn __call_words(task: &__pgflow::Task) -> __pgflow::Called {
        match <<Flow as __pgflow::Itself<>>::Itself<> as
                    __pgflow::HasInput<String, <Flow as __pgflow::Flow>::Input,
                    words>>::take::<>(task) {
            __pgflow::Ok(it) =>
                __pgflow::future::<words, _,
                        _>(<_ as __pgflow::Sent>::sent(words(it)),
                    <_ as __pgflow::IsResult<_, _, words>>::into_result::<>,
                    <_ as __pgflow::Reported<words>>::report::<>),
            __pgflow::Err(why) => __pgflow::Err(why),
        }
    }
    #[doc(hidden)]
    #[doc = "`async fn length(item: String, ctx: Context) -> Result<usize>`"]
    #[allow(non_camel_case_types, dead_code, missing_copy_implementations,
    missing_debug_implementations)]
    enum length {}
    #[diagnostic::do_not_recommend]
    impl __pgflow::Step for length {
        type Flow = Flow;
        type At = __pgflow::D1;
        type TaskOutput = usize;
        type Output = ::std::vec::Vec<usize>;
    }
    fn __call_length(task: &__pgflow::Task) -> __pgflow::Called {
        __pgflow::future::<length, _,
                _>(<_ as
                    __pgflow::Sent>::sent(length(<<words as
                            __pgflow::Itself<>>::Itself<> as
                            __pgflow::OutputsItems<String,
                            <words as
                            __pgflow::OutputsSequence<<words as __pgflow::Step>::Output,
                            length>>::Item<>,
                            length>>::pass::<>(task.item({
                                    #[allow(unused_imports)]
                                    use __pgflow::Unread as _;
                                    <__pgflow::Reader<String>>::read::<length>
                                })?),
                    <Context as
                                __pgflow::IsContext<length>>::from_task::<>(task)?)),
            <_ as __pgflow::IsResult<_, _, length>>::into_result::<>,
            <_ as __pgflow::Reported<length>>::report::<>)
    }
    #[doc(hidden)]
    #[doc =
    "`async fn longest(words: Vec<String>) -> Result<Option<String>>`"]
    #[allow(non_camel_case_types, dead_code, missing_copy_implementations,
    missing_debug_implementations)]
    enum longest {}
    #[diagnostic::do_not_recommend]
    impl __pgflow::Step for longest {
        type Flow = Flow;
        type At = __pgflow::D2;
        type TaskOutput = Option<String>;
        type Output = Option<String>;
    }
    fn __call_longest(task: &__pgflow::Task) -> __pgflow::Called {
        match <<words as __pgflow::Itself<>>::Itself<> as
                    __pgflow::OutputsOne<Vec<String>,
                    <words as __pgflow::Step>::Output, longest>>::take::<>(task)
            {
            __pgflow::Ok(it) =>
                __pgflow::future::<longest, _,
                        _>(<_ as __pgflow::Sent>::sent(longest(it)),
                    <_ as __pgflow::IsResult<_, _, longest>>::into_result::<>,
                    <_ as __pgflow::Reported<longest>>::report::<>),
            __pgflow::Err(why) => __pgflow::Err(why),
        }
    }
    #[doc(hidden)]
    #[doc = "`async fn total(lengths: Vec<usize>) -> Result<usize>`"]
    #[allow(non_camel_case_types, dead_code, missing_copy_implementations,
    missing_debug_implementations)]
    enum total {}
    #[diagnostic::do_not_recommend]
    impl __pgflow::Step for total {
        type Flow = Flow;
        type At = __pgflow::D3;
        type TaskOutput = usize;
        type Output = usize;
    }
    fn __call_total(task: &__pgflow::Task) -> __pgflow::Called {
        match <<length as __pgflow::Itself<>>::Itself<> as
                    __pgflow::OutputsAll<Vec<usize>,
                    <length as __pgflow::Step>::Output, total>>::take::<>(task)
            {
            __pgflow::Ok(it) =>
                __pgflow::future::<total, _,
                        _>(<_ as __pgflow::Sent>::sent(total(it)),
                    <_ as __pgflow::IsResult<_, _, total>>::into_result::<>,
                    <_ as __pgflow::Reported<total>>::report::<>),
            __pgflow::Err(why) => __pgflow::Err(why),
        }
    }
    #[doc(hidden)]
    #[doc =
    "`async fn report(run: String, longest: Option<Option<String>>, total: usize) -> Result<String>`"]
    #[allow(non_camel_case_types, dead_code, missing_copy_implementations,
    missing_debug_implementations)]
    enum report {}
    #[diagnostic::do_not_recommend]
    impl __pgflow::Step for report {
        type Flow = Flow;
        type At = __pgflow::D4;
        type TaskOutput = String;
        type Output = String;
    }
    fn __call_report(task: &__pgflow::Task) -> __pgflow::Called {
        match __pgflow::take_3(task,
                <<Flow as __pgflow::Itself<>>::Itself<> as
                    __pgflow::HasInput<String, <Flow as __pgflow::Flow>::Input,
                    report>>::take::<>,
                <<longest as __pgflow::Itself<>>::Itself<> as
                    __pgflow::MayOutput<Option<Option<String>>,
                    <longest as __pgflow::Step>::Output, report>>::take::<>,
                <<total as __pgflow::Itself<>>::Itself<> as
                    __pgflow::OutputsOne<usize,
                    <total as __pgflow::Step>::Output, report>>::take::<>) {
            __pgflow::Ok(it) =>
                __pgflow::future::<report, _,
                        _>(<_ as __pgflow::Sent>::sent(report(it.0, it.1, it.2)),
                    <_ as __pgflow::IsResult<_, _, report>>::into_result::<>,
                    <_ as __pgflow::Reported<report>>::report::<>),
            __pgflow::Err(why) => __pgflow::Err(why),
        }
    }
}
#[diagnostic::do_not_recommend]
impl ::pgflow::Flow for analyze_text::Flow {
    type Input = String;
    type Output = analyze_text::Output;
    const SLUG: &'static str = "analyze_text";
    const ABOUT: ::pgflow::definition::FlowDef =
        ::pgflow::definition::FlowDef {
            version: 1u32,
            version_slug: "analyze_text",
            finishes: &[],
            options: ::pgflow::__private::StepOptions {
                max_attempts: ::core::option::Option::Some(3u32),
                ..::pgflow::__private::StepOptions::INHERIT
            },
            input_type: ::core::option::Option::Some("String"),
            ..::pgflow::definition::FlowDef::PLAIN
        };
    const KEPT: fn() -> ::pgflow::__private::Kept<String, String> =
        <String as ::pgflow::__private::StoredInput<Self>>::kept::<>;
    const READ_OUTPUT:
        fn(&::pgflow::definition::RunOutputs<Self>)
            ->
                ::core::result::Result<Self::Output,
                ::pgflow::definition::DataError> =
        analyze_text::Output::__read;
}
