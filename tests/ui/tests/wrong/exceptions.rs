//! Programs that do not keep all measures, each with the reason.

const BOUND: &str = "rustc shows the bound of our function, and the type that does not meet it";
const MISMATCH: &str =
    "an argument of another type, in rustc's own words, which show our function too";
const NOT_SEND: &str =
    "rustc itself shows the value and the await that keep a future from being `Send`";
const OWN_WORDS: &str = "a mistake of the language, which rustc explains in more than 12 lines";
const REPEATED: &str =
    "a type that only rustc knows to be wrong, and says so wherever our code repeats it";
const ERROR: &str = "rustc shows the type that is no error after our sentence about it";

pub(crate) const EXCEPTIONS: &[(&str, &str)] = &[
    ("rc_across_an_await", NOT_SEND),
    ("guard_across_an_await", NOT_SEND),
    ("future_not_send_behind_a_call", NOT_SEND),
    ("future_not_send_with_parameters", NOT_SEND),
    ("future_not_send_with_a_transaction", NOT_SEND),
    ("question_mark_on_an_own_struct", ERROR),
    ("question_mark_into_an_own_error", ERROR),
    ("testing_a_flow_with_the_wrong_input", MISMATCH),
    ("job_handed_over_with_another_payload", MISMATCH),
    ("fork_with_the_wrong_payload", MISMATCH),
    ("job_submitted_with_another_payload", MISMATCH),
    ("stream_without_a_type", REPEATED),
    ("job_handed_to_a_type", BOUND),
    ("wait_for_a_number", BOUND),
    ("need_not_send", NOT_SEND),
    ("job_handed_to_a_typo", OWN_WORDS),
    ("flow_type_of_a_private_module", OWN_WORDS),
    ("generic_flow_input_without_argument", OWN_WORDS),
    ("output_read_as_another_type", OWN_WORDS),
    ("apply_something_else", MISMATCH),
    ("get_with_a_text_as_id", MISMATCH),
    ("worker_without_a_reference", MISMATCH),
    ("state_of_a_trait_object", NOT_SEND),
    ("get_without_the_flow", OWN_WORDS),
    ("half_typed_return_type", "rustc's parser stops at the next item"),
    ("ok_forgotten", OWN_WORDS),
    ("output_of_a_run_that_may_not_be_there", OWN_WORDS),
    ("postgres_without_its_feature", OWN_WORDS),
    ("serde_default_of_a_missing_function", OWN_WORDS),
    ("step_output_by_name", OWN_WORDS),
    ("step_lifetime_elided_in_output", REPEATED),
    ("output_of_an_associated_type", REPEATED),
    ("skipped_field_without_a_default", "serde's derive reports a missing `Default` itself"),
    ("a_huge_nested_type", "rustc adds where it has written the long name of the type"),
    ("two_options_joined_by_and", "the whole value is shown, not where it ends to be one"),
    (
        "a_generic_field_that_cannot_be_stored",
        "serde's derives report a field of a generic type themselves",
    ),
];

/// Helps that no program here can show, and who does.
pub(crate) const PRINTED_ELSEWHERE: &[(&str, &str)] = &[
    (
        "help: leave `version` away",
        "needs a `pgflow.lock`: followed in `tests/build/tests/edits.rs`",
    ),
    (
        "help: change the newest version",
        "needs a `pgflow.lock`: followed in `tests/build/tests/edits.rs`",
    ),
    (
        "help: give it a shorter `slug",
        "needs a `pgflow.lock`: followed in `tests/build/tests/sources.rs`",
    ),
    ("help: run `cargo pgflow migrate`", "needs a `pgflow.lock`: `tests/build/tests/cargo`"),
    (
        "help: add it to `Cargo.toml`",
        "needs a manifest without `pgflow`: followed in `pgflow-macros/src/pgflow_crate.rs`",
    ),
];
