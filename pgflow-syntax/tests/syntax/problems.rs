//! What is said about flows that are wrong in a way that needs no types to see.

use pgflow_syntax::{Errors, FlowItem, check};
use quote::ToTokens;

fn module(steps: &str) -> FlowItem {
    syn::parse_str(&format!("mod billing {{ {steps} }}")).expect("a module")
}

/// The first step of a flow, as the compiler gets it.
fn first_step(steps: &str) -> String {
    let item = module(steps);
    item.steps().next().expect("a step").to_token_stream().to_string()
}

/// Every problem of a flow, in the order they are reported.
fn problems(args: &str, steps: &str) -> Vec<String> {
    let item = module(steps);
    let mut errors = Errors::default();
    check(args.parse().expect("tokens"), &item, &mut errors);
    let all = errors.finish().into_iter().flatten();
    all.map(|error| error.to_string()).collect()
}

#[test]
fn a_right_flow_has_none() {
    let steps = "
        #[step] async fn user(run: Signup) -> Result<User> {}
        #[step(map, depends_on = [orders as order], timeout = \"1h30m\")]
        async fn tax(order: Order, State(rates): State<Rates>) -> io::Result<Money> {}
        #[step(depends_on = user, unless = { \"user\": { \"debts\": [], \"age\": -1.5 } })]
        async fn orders(_user: User, _ctx: Context) -> Result<Vec<Order>, Oops> {}
    ";
    assert_eq!(problems("input = Signup, crate = renamed, schema = false", steps), [""; 0]);
}

#[test]
fn each_problem_has_its_words() {
    for (steps, expected) in [
        ("", "flow `billing` has no steps\nhelp: mark its functions `#[step]`"),
        (
            "#[step(depends_on = [b])] async fn a() -> Result<()> {}
             #[step(depends_on = [a])] async fn b() -> Result<()> {}",
            "these steps wait for each other, so none of them can start\n\
             note: `a` → `b` → `a` (each depends on the next)",
        ),
        (
            "#[step] async fn tx() -> Result<()> {}",
            "a step cannot be called `tx`: parameters of that name have a meaning of their own",
        ),
        (
            "#[step] async fn a(tx: Tx) -> Result<()> {}",
            "step `a` takes a database transaction, which is a `&mut Tx`\n\
             help: write `tx: &mut Tx`",
        ),
        (
            "#[step] async fn a(state: App) -> Result<()> {}",
            "step `a` does not depend on `state`\n\
             help: application state is taken as `State<App>`",
        ),
        (
            "#[step(when_unmet = fail)] async fn a() -> Result<()> {}",
            "step `a` has no condition that could be unmet\nhelp: add `only_if` or `unless`",
        ),
        (
            "#[step(timeout = 99999999999)] async fn a() -> Result<()> {}",
            "`timeout` must be at most 2147483647 seconds",
        ),
        (
            "#[step(only_if = \"{\")] async fn a(run: u8) -> Result<()> {}",
            "`only_if` cannot be read: it is not JSON: EOF while parsing an object at line 1 column 1\n\
             help: write a JSON object: `only_if = { \"plan\": \"pro\" }`",
        ),
        (
            "struct a; #[step] async fn a() -> Result<()> {}",
            "step `a` needs this name for its own type\n\
             help: rename this item, or move it out of the module",
        ),
    ] {
        assert_eq!(problems("input = u8", steps), [expected], "{steps}");
    }
}

#[test]
fn a_transaction_is_lent_as_itself() {
    let step = |ty| format!("#[step] async fn a(tx: {ty}) -> Result<()> {{}}");
    for ty in ["&mut Tx", "&mut pgflow::Tx", "&mut Tx<'_>"] {
        assert_eq!(problems("", &step(ty)), [""; 0], "{ty}");
    }
    for ty in ["&Tx", "&mut Pool", "u32"] {
        let found = problems("", &step(ty));
        assert!(
            matches!(&*found, [one] if one.contains("which is a `&mut Tx`")),
            "{ty}: {found:?}"
        );
    }
}

#[test]
fn a_step_cannot_have_the_name_of_a_type() {
    for name in ["str", "bool", "u8", "isize", "f64", "char"] {
        let keep = format!(", and set `slug = \"{name}\"` to keep it in the database");
        for (marker, keep) in [("step", &*keep), ("step(slug = \"other\")", "")] {
            let expected = format!(
                "a step cannot be called `{name}`: it is the name of a type\n\
                 help: choose another name{keep}"
            );
            for spelled in [name.to_owned(), format!("r#{name}")] {
                let steps = format!("#[{marker}] async fn {spelled}() -> Result<u8> {{}}");
                assert_eq!(problems("", &steps), [&*expected], "{steps}");
            }
        }
    }
}

#[test]
fn an_output_that_cannot_be_written_down_again_is_one_problem() {
    let after = "#[step(depends_on = [a])] async fn b(a: u8) -> Result<()> {}";
    for ty in ["impl Serialize", "_", "Self", "Vec<_>", "(u8, impl Copy)", "Self::Kind", "&_"] {
        let steps = format!("#[step] async fn a() -> Result<{ty}> {{}} {after}");
        assert_eq!(problems("", &steps), ["step `a` must name the type of its output"], "{ty}");
    }
}

#[test]
fn conditions_name_dependencies_by_slug() {
    let with = |condition: &str| {
        let steps = format!(
            "#[step(slug = \"fetch\")] async fn user() -> Result<User> {{}}
             #[step(map)] async fn each(item: u8) -> Result<u8> {{}}
             #[step(depends_on = [user, each], only_if = {condition})] async fn last() -> Result<()> {{}}"
        );
        problems("input = Vec<u8>", &steps)
    };
    assert_eq!(with(r#"{ "fetch": { "any": 1 }, "each": [1] }"#), [""; 0]);
    assert_eq!(
        with(r#"{ "user": {} }"#),
        ["\"user\" is not a dependency of step `last`\nhelp: use its slug: `\"fetch\"`"]
    );
    assert_eq!(
        with(r#"{ "each": {} }"#),
        ["`each` is a map step, so its output is an array\nhelp: write `\"each\": […]`"]
    );
    assert_eq!(with(r#"{ "fetch": {}, "fetch": {} }"#), ["\"fetch\" is given twice"]);
}

#[test]
fn several_problems_are_all_reported() {
    let steps = "
        #[step(timeout = 0)] async fn a() -> Result<()> {}
        #[step(depends_on = [aa])] fn b() -> u8 {}
    ";
    assert_eq!(problems("slug = \"1st\"", steps).len(), 5);
}

#[test]
fn a_value_that_is_not_there_yet_is_one_problem_in_plain_words() {
    for (option, expected) in [
        ("timeout", "`timeout` needs a value: `timeout = 30` or `timeout = \"5m\"`"),
        ("timeout = , map", "`timeout` needs a value: `timeout = 30` or `timeout = \"5m\"`"),
        ("max_attempts = ", "`max_attempts` needs a value: `max_attempts = 3`"),
        ("depends_on", "`depends_on` is a list of steps: `depends_on = [fetch_user]`"),
        ("depends_on = [5]", "`depends_on` is a list of steps: `depends_on = [fetch_user]`"),
        ("depends_on = [b as]", "give it a name: `b as other_name`"),
        ("depends_on = [b as, c]", "give it a name: `b as other_name`"),
        ("only_if = ", "`only_if` is a JSON object: `only_if = { \"plan\": \"pro\" }`"),
        ("only_if = { a: { b: 1 } }", "a key is a text in quotes\nhelp: write `\"a\"`"),
        ("slug", "`slug` is a text in quotes, such as `slug = \"fetch_user\"`"),
    ] {
        let steps = format!("#[step({option})] async fn a() -> Result<()> {{}}");
        assert_eq!(problems("", &steps), [expected], "{option}");
    }
}

#[test]
fn an_unfinished_flow_attribute_is_one_problem_in_plain_words() {
    let steps = "#[step] async fn a() -> Result<()> {}";
    for (args, expected) in [
        ("input", "`input` is a type: `input = Signup`"),
        ("input = ", "`input` is a type: `input = Signup`"),
        ("input = [5]", "`input` is a type: `input = Signup`"),
        ("schema = 1", "`schema` is `true` or `false`: `schema = false`"),
    ] {
        assert_eq!(problems(args, steps), [expected], "{args}");
    }
}

#[test]
fn a_step_marked_in_two_ways_is_a_step_that_others_can_name() {
    let after = "#[step(depends_on = [a])] async fn b(a: u8) -> Result<()> {}";
    for (attrs, expected) in [
        ("#[step] #[step]", "`a` is marked `#[step]` more than once"),
        (
            "#[cfg_attr(all(unix, test), allow(unused), step(timeout = 5))]",
            "step `a` cannot depend on the build: a flow has one shape in the database",
        ),
    ] {
        let steps = format!("{attrs} async fn a() -> Result<u8> {{}} {after}");
        assert_eq!(problems("", &steps), [expected], "{attrs}");
        assert!(!first_step(&steps).contains("step"), "{attrs} must not run outside the flow");
    }
}

#[test]
fn an_attribute_that_marks_nothing_is_left_alone() {
    let steps = "#[cfg_attr(step, allow(unused))] #[step] async fn a() -> Result<u8> {}";
    assert_eq!(problems("", steps), [""; 0]);
    assert!(first_step(steps).contains("cfg_attr"));
}

#[test]
fn a_dependency_on_a_path_is_one_problem() {
    let path = "a step depends on steps of its own flow: ";
    for (dependency, expected) in [
        ("billing::b", "`billing::b` is a path\nhelp: write `b`"),
        ("super::c as d", "`super::c` is a path"),
        ("::c::b", "`::c::b` is a path\nhelp: write `b`"),
    ] {
        let steps = format!(
            "#[step(depends_on = [{dependency}])] async fn a(d: u8) -> Result<()> {{}}
             #[step] async fn b() -> Result<()> {{}}"
        );
        assert_eq!(problems("", &steps), [format!("{path}{expected}")], "{dependency}");
    }
}

#[test]
fn of_two_steps_with_one_slug_the_one_that_wrote_it_is_wrong() {
    let renamed = "#[step(slug = \"b\")] async fn a() -> Result<()> {}";
    let plain = "#[step] async fn b() -> Result<()> {}";
    for steps in [format!("{renamed} {plain}"), format!("{plain} {renamed}")] {
        assert_eq!(problems("", &steps), ["step `a` has the slug of step `b`: `b`"], "{steps}");
    }
}

#[test]
fn a_parameter_that_means_nothing_is_told_what_it_may_be() {
    let alias = "call it `user`, or write `depends_on = [user as order]`";
    for (step, help) in [
        ("#[step] async fn a(input: In)", "the run's input is called `run`"),
        ("#[step] async fn a(customer: u8)", "the run's input is called `run`"),
        ("#[step] async fn a(run: In, order: u8)", "a parameter of `a` is one of `run`, `ctx`"),
        ("#[step(depends_on = user)] async fn a(input: u8)", "the run's input is called `run`"),
        (
            "#[step(depends_on = user)] async fn a(user: u8, order: In)",
            "the run's input is called `run`",
        ),
        ("#[step(depends_on = user)] async fn a(order: In)", alias),
        (
            "#[step(depends_on = user)] async fn a(_user: u8, c: Context)",
            "the context is called `ctx`",
        ),
        ("#[step] async fn a(context: pgflow::Context)", "the context is called `ctx`"),
        ("#[step(map)] async fn a(order: u8)", "one element of the run's input is called `item`"),
        (
            "#[step(map, depends_on = user)] async fn a(users: u8)",
            "call it `item`, or write `depends_on = [user as users]`",
        ),
        (
            "#[step(map, depends_on = user)] async fn a(order: u8)",
            "call it `item`, or write `depends_on = [user as order]`",
        ),
        (
            "#[step(map, depends_on = [user as bill])] async fn a(order: u8)",
            "call it `bill`, or write `depends_on = [user as order]`",
        ),
        (
            "#[step(depends_on = user)] async fn a(user: u8, run: In, order: In)",
            "a parameter of `a` is one of `user`, `run`, `ctx`",
        ),
    ] {
        let steps = format!("{step} -> Result<()> {{}} #[step] async fn user() -> Result<u8> {{}}");
        let [found] = &problems("input = In", &steps)[..] else {
            panic!("not one problem: {step}")
        };
        assert_eq!(found.split_once("\nhelp: ").map(|(_, help)| help), Some(help), "{step}");
    }
}

#[test]
fn an_input_that_the_flow_does_not_have_is_declared() {
    assert_eq!(
        problems("", "#[step] async fn a(input: Vec<u8>) -> Result<()> {}"),
        ["step `a` does not depend on `input`\n\
          help: the run's input is called `run`, and declared by `#[flow(input = Vec<u8>)]`"],
    );
}

/// Options of steps that are numbers come from one list, and so must this message.
#[test]
fn an_unknown_option_is_answered_with_those_there_are() {
    let said = problems("", "#[step(priority = 3)] async fn a() -> Result<()> {}").join("");
    let (first, options) = said.split_once("\nhelp: the options are ").expect("a list");
    assert_eq!(first, "there is no option `priority` here");
    let numbers = pgflow_model::OPTIONS.iter().map(|rule| rule.name);
    for name in ["depends_on", "map", "was"].into_iter().chain(numbers) {
        assert!(options.contains(&format!("`{name}`")), "{name}: {options}");
    }
}
