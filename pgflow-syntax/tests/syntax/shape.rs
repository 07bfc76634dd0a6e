//! A flow as plain data, whatever order it was written in.

use pgflow_model::{FlowShape, OnSkip, StepKind};
use pgflow_syntax::{Errors, FlowItem, check};

fn shape(args: &str, steps: &str) -> FlowShape {
    let item: FlowItem = syn::parse_str(&format!("mod billing {{ {steps} }}")).expect("a module");
    let mut errors = Errors::default();
    let flow = check(args.parse().expect("tokens"), &item, &mut errors);
    assert!(errors.is_empty(), "{errors:?}");
    flow.shape()
}

#[test]
fn dependencies_come_first() {
    let shape = shape(
        "input = Vec<u8>, timeout = \"1m\"",
        "#[step(depends_on = [b], when_exhausted = skip_cascade)] async fn a() -> Result<()> {}
         #[step(map, only_if = { \"c\": [1] }, depends_on = c)] async fn b(item: u8) -> Result<u8> {}
         #[step(slug = \"c\")] async fn c() -> Result<Vec<u8>> {}",
    );
    let order: Vec<_> = shape.steps.iter().map(|step| step.slug.as_str()).collect();
    assert_eq!(order, ["c", "b", "a"]);
    assert_eq!(shape.options.timeout, Some(60));
    assert_eq!(shape.input_type.as_deref(), Some("Vec<u8>"));
    let [c, b, a] = &shape.steps[..] else { panic!("three steps") };
    assert_eq!((c.kind, b.kind), (StepKind::Single, StepKind::Map));
    assert_eq!(b.only_if.as_ref().map(ToString::to_string).as_deref(), Some(r#"{"c":[1]}"#));
    assert_eq!(a.when_exhausted, OnSkip::SkipCascade);
    assert_eq!(a.output_type.as_deref(), Some("()"));
}

#[test]
fn names_get_out_of_the_way_of_the_modules_own() {
    let item: FlowItem = syn::parse_str(
        "mod web_shop { use other::Flow; struct Output; #[step] async fn a() -> Result<()> {} }",
    )
    .expect("a module");
    let flow = check(proc_macro2::TokenStream::new(), &item, &mut Errors::default());
    assert_eq!(flow.type_name, "WebShopFlow");
    assert_eq!(flow.output_name, "WebShopOutput");
}
