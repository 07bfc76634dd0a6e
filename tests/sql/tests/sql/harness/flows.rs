//! Short hand for definitions.

use super::answer::lit;

/// A script that defines a flow from lines such as `b after a`, `m map after b`, `c; when_unmet => 'fail'`.
/// What follows the semicolon goes into `add_step` as it is. Retries come at once (`base_delay` 0).
pub(crate) fn define(flow: &str, steps: &[&str]) -> String {
    let create = format!("select pgflow.create_flow({}, base_delay => 0);\n", lit(flow));
    create + &steps.iter().map(|step| add_step(flow, step)).collect::<String>()
}

/// A script that defines a flow of maps, each after the one before.
pub(crate) fn define_maps(flow: &str, count: usize) -> String {
    let name = |number: usize| match number {
        0 => "m0 map".to_owned(),
        n => format!("m{n} map after m{}", n - 1),
    };
    let steps: Vec<_> = (0..count).map(name).collect();
    define(flow, &steps.iter().map(String::as_str).collect::<Vec<_>>())
}

fn add_step(flow: &str, line: &str) -> String {
    let (head, options) = line.split_once(';').unwrap_or((line, ""));
    let (name, deps) = head.split_once(" after ").unwrap_or((head, ""));
    let (slug, kind) = match name.trim().strip_suffix(" map") {
        Some(slug) => (slug, "map"),
        None => (name.trim(), "single"),
    };
    let deps: Vec<_> = deps.split_whitespace().map(lit).collect();
    let options = match options.trim() {
        "" => String::new(),
        options => format!(", {options}"),
    };
    let (flow, slug, deps) = (lit(flow), lit(slug), deps.join(", "));
    let call = format!("{flow}, {slug}, array[{deps}]::text[], step_type => '{kind}'{options}");
    format!("select pgflow.add_step({call});\n")
}
