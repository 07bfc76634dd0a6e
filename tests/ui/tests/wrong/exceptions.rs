//! Programs that do not keep all measures, each with the reason.

/// Its 13 lines are the fewest that rustc has for an argument of another type: eight for the call, five for our function, which it always shows. A
/// rule of ours instead (see `pgflow::check::Lasts`) would take away inference where it is used (`Next::to::<send>(name.into())`,
/// `.concurrency(text.parse()?)`), and cannot name an argument beside a type in `::<…>`.
const MISMATCH: &str =
    "an argument of another type, in rustc's own words, which show our function too";
/// Its sentence names the value and the await, which is what helps; a rule of ours would be 8 lines and name neither.
const NOT_SEND: &str =
    "rustc itself shows the value and the await that keep a future from being `Send`";
/// No code of ours takes part in it: names that are not there or private, arguments too many or too few, bodies that return something else.
const OWN_WORDS: &str = "a mistake of the language, which rustc explains in more than 12 lines";
const BOUND: &str = "rustc shows the bound of our function, and the type that does not meet it";
const REPEATED: &str =
    "a type that only rustc knows to be wrong, and says so wherever our code repeats it";
/// What is derived for a generic type asks for the type of its field, so whoever uses the type is told of it as well.
const GENERIC: &str = "the field is one error, and the step that outputs its generic type another";
/// The type is described as what it holds, and the derive of schemars cannot be told to believe that this can be.
const TRANSPARENT: &str = "the field is one error of ours, and another of the derive of schemars";
/// An `async fn` that is given to us is such a type. No rule can name less: one about what the function takes would leave a closure's
/// `|message, ctx|` without types, and a need or a step is given as a function, which has no other name.
const LONG_NAME: &str = "rustc adds where it has written the long name of the type";

/// Reasons that are rustc's alone: it words these errors, wherever its users call something.
pub(crate) const OF_THE_COMPILER: &[&str] = &[MISMATCH, NOT_SEND, OWN_WORDS];

pub(crate) const EXCEPTIONS: &[(&str, &str)] = &[
    ("hook_not_waited_for", OWN_WORDS),
    ("get_with_a_text_as_id", MISMATCH),
    ("job_handed_over_with_another_payload", MISMATCH),
    ("worker_concurrency_as_a_text", MISMATCH),
    ("a_need_that_takes_a_list_and_is_given_one", MISMATCH),
    ("parcel_need_handed_on_by_its_name", MISMATCH),
    ("visit_job_handed_the_wrong_payload", MISMATCH),
    ("ride_need_hands_over_another_payload", MISMATCH),
    ("ride_started_in_no_transaction", MISMATCH),
    ("loan_job_awaited_next", MISMATCH),
    ("loan_run_of_a_text_as_an_id", MISMATCH),
    ("loan_sleep_until_a_duration", MISMATCH),
    ("cell_across_an_await", NOT_SEND),
    ("future_not_send_behind_a_call", NOT_SEND),
    ("future_not_send_with_a_transaction", NOT_SEND),
    ("future_not_send_with_parameters", NOT_SEND),
    ("guard_across_an_await", NOT_SEND),
    ("need_not_send", NOT_SEND),
    ("rc_across_an_await", NOT_SEND),
    ("state_of_a_trait_object", NOT_SEND),
    ("cancelled_without_a_reason", OWN_WORDS),
    ("flow_type_of_a_private_module", OWN_WORDS),
    ("half_typed_return_type", OWN_WORDS),
    ("job_finished_without_next", OWN_WORDS),
    ("job_handed_over_by_value_instead_of_type", OWN_WORDS),
    ("job_handed_over_without_its_payload", OWN_WORDS),
    ("job_handed_to_a_typo", OWN_WORDS),
    ("ok_forgotten", OWN_WORDS),
    ("parcel_hook_awaited", OWN_WORDS),
    ("visit_sleep_awaited", OWN_WORDS),
    ("visit_worker_not_run", OWN_WORDS),
    ("output_of_a_run_that_may_not_be_there", OWN_WORDS),
    ("output_read_as_another_type", OWN_WORDS),
    ("postgres_without_its_feature", OWN_WORDS),
    ("question_mark_into_an_own_error", OWN_WORDS),
    ("serde_default_of_a_missing_function", OWN_WORDS),
    ("started_without_an_input", OWN_WORDS),
    ("step_output_by_name", OWN_WORDS),
    ("ride_a_value_instead_of_ok", OWN_WORDS),
    ("ride_another_type_in_ok", OWN_WORDS),
    ("ride_wait_forgotten", OWN_WORDS),
    ("loan_flow_in_a_file", OWN_WORDS),
    ("loan_hook_awaited", OWN_WORDS),
    ("loan_output_not_awaited", OWN_WORDS),
    ("question_mark_on_an_own_struct", BOUND),
    ("care_submitted_a_visit", BOUND),
    ("ride_error_of_a_question_mark", BOUND),
    ("visit_pipeline_that_returns_a_plain_value", BOUND),
    ("data_transparent_and_an_opaque_field", TRANSPARENT),
    ("a_generic_field_that_cannot_be_stored", GENERIC),
    ("submitted_without_the_need", "rustc asks for the need, and for its payload"),
    ("generic_flow_input_without_argument", REPEATED),
    ("output_of_an_associated_type", REPEATED),
    ("step_lifetime_elided_in_output", REPEATED),
    ("a_huge_nested_type", LONG_NAME),
    ("parcel_worker_of_a_need", LONG_NAME),
    ("loan_worker_with_a_need", LONG_NAME),
    ("loan_pipeline_of_an_own_function", LONG_NAME),
    ("pipeline_process_takes_another_message", LONG_NAME),
    ("pipeline_process_in_takes_another_message", LONG_NAME),
    ("pipeline_batch_takes_what_was_pushed_and_not_what_was_processed", LONG_NAME),
];
