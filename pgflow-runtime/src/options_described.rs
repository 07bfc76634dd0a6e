//! The options of `#[flow]` and `#[step]` as items with documentation. Code that an editor sees names them, so that
//! it can complete and describe the words in those attributes. No other code does.

macro_rules! options {
    ($($module:ident: $($name:ident = $doc:literal,)*;)*) => { $(
        #[allow(missing_docs, non_upper_case_globals)]
        pub mod $module {
            pub use super::numbers::$module::*;

            $(#[doc = $doc] pub const $name: () = ();)*
        }
    )* };
}

options! {
    flow_options:
        input = "`input = Type`: what a run starts with. Steps take it as the parameter `run`.",
        slug = "`slug = \"name\"`: name in the database, unique in the program. The module's name by default.",
        schema = "`schema = false`: types need no JSON Schema.",
        version = "`version = 1`: the code of an earlier version, kept for its runs in flight.",
        format = "`format = 2`: raised when runs store their data in a form that older code's data cannot be read as: a new version.",
        schedule = "`schedule = \"0 3 * * MON-FRI\"`: starts a run at each of these moments.",
        timezone = "`timezone = \"Europe/Berlin\"`: where the schedule is meant. UTC by default.",
        missed = "`missed = \"last\"`: moments that nobody was there for: `skip`, `last` or `all(10)`.",
        overlap = "`overlap = \"allow\"`: moments that come while a run goes on: `allow`, `skip` or `queue`.",
        schedule_input = "`schedule_input = Report::yesterday()`: what a run is given that the schedule starts.",
    ;
    step_options:
        depends_on = "`depends_on = [a, b as c]`: steps that must finish first.",
        map = "`map`: one task per element of its dependency's output, or of the run's input.",
        slug = "`slug = \"name\"`: name in the database. The function's name by default.",
        only_if = "`only_if = { \"key\": value }`: runs only if what it is started with contains this JSON.",
        unless = "`unless = { \"key\": value }`: runs only if what it is started with does not contain this JSON.",
        when_unmet = "`when_unmet = skip`: if the condition is not met: `skip`, `skip_cascade` or `fail`.",
        when_exhausted = "`when_exhausted = fail`: if the attempts run out: `fail`, `skip` or `skip_cascade`.",
        was = "`was = \"old_name\"`: the slug that the step had in the version before.",
        resources = "`resources = [\"gpu\"]`: resources of which each attempt holds a unit, over all processes.",
        rate = "`rate = \"openai\"`: a rate that attempts keep to, over all processes.",
    ;
}

/// Options that are numbers, from the model's list of them.
#[allow(missing_docs, non_upper_case_globals)]
mod numbers {
    macro_rules! of_flows {
        (both $name:ident $doc:literal) => {
            #[doc = $doc]
            pub const $name: () = ();
        };
        (step $name:ident $doc:literal) => {};
    }

    macro_rules! described {
        ($($name:ident $of:ident $min:literal $unit:ident $about:literal $doc:literal;)+) => {
            pub(super) mod flow_options {
                $(of_flows! { $of $name $doc })+
            }

            pub(super) mod step_options {
                $(#[doc = $doc] pub const $name: () = ();)+
            }
        };
    }

    pgflow_model::step_options!(described);
}
