//! The edits.

/// An edit to the crate below.
pub(crate) struct Case {
    pub(crate) name: &'static str,
    /// File, what is replaced there, and by what.
    pub(crate) edits: &'static [(&'static str, &'static str, &'static str)],
    /// What it means for `orders`, or a part of why it is refused.
    pub(crate) means: &'static str,
    pub(crate) writes: &'static [&'static str],
}

pub(crate) const LIB: &str = "mod orders;\n";

pub(crate) const ORDERS: &str = r#"use pgflow::prelude::*;

#[flow(input = Order, max_attempts = 4)]
pub mod orders {
    use super::*;

    #[step]
    pub async fn fetch(run: Order) -> Result<Vec<Item>> { Ok(run.items) }

    #[step(map, depends_on = [fetch])]
    pub async fn price(item: Item) -> Result<u32> { Ok(item.price) }

    #[step(depends_on = [price, fetch as items], timeout = 30)]
    pub async fn sum(items: Vec<Item>, price: Vec<u32>) -> Result<u32> { Ok(1) }

    #[step(depends_on = [sum], only_if = { "sum": 1 }, when_exhausted = skip)]
    pub async fn tell(sum: u32) -> Result<()> { Ok(()) }
}
"#;

pub(crate) const O: &str = "src/orders.rs";
pub(crate) const L: &str = "src/lib.rs";
const LOCK: &[&str] = &["pgflow.lock"];
const TUNE: &[&str] = &["0002_tune_orders.sql", "pgflow.lock"];
pub(crate) const V2: &[&str] = &["0002_create_orders_v2.sql", "pgflow.lock"];

pub(crate) const fn case(
    name: &'static str,
    edits: &'static [(&'static str, &'static str, &'static str)],
    means: &'static str,
    writes: &'static [&'static str],
) -> Case {
    Case { name, edits, means, writes }
}

pub(crate) const EDITS: &[Case] = &[
    // Nothing.
    case("a comment", &[(O, "    #[step]", "    // Gets it.\n    #[step]")], "nothing", &[]),
    case("a doc comment", &[(O, "    #[step]", "    /// Gets it.\n    #[step]")], "nothing", &[]),
    case(
        "white space",
        &[(O, "(map, depends_on = [fetch])", "(\n  map,\n\n  depends_on=[ fetch ],\n)")],
        "nothing",
        &[],
    ),
    case("a body", &[(O, "Ok(1)", "Ok(price.iter().sum())")], "nothing", &[]),
    case(
        "functions in another order",
        &[
            (
                O,
                "    #[step]\n    pub async fn fetch(run: Order) -> Result<Vec<Item>> { Ok(run.items) }\n",
                "",
            ),
            (
                O,
                "{ Ok(()) }\n",
                "{ Ok(()) }\n\n    #[step]\n    pub async fn fetch(run: Order) -> Result<Vec<Item>> { Ok(run.items) }\n",
            ),
        ],
        "nothing",
        &[],
    ),
    case(
        "dependencies in another order",
        &[(O, "[price, fetch as items]", "[fetch as items, price]")],
        "nothing",
        &[],
    ),
    case(
        "an alias",
        &[
            (O, "fetch as items", "fetch as all"),
            (O, "items: Vec<Item>, price", "all: Vec<Item>, price"),
        ],
        "nothing",
        &[],
    ),
    case(
        "parameters in another order",
        &[(O, "items: Vec<Item>, price: Vec<u32>", "price: Vec<u32>, items: Vec<Item>")],
        "nothing",
        &[],
    ),
    case("an output no longer taken", &[(O, "items: Vec<Item>, price", "price")], "nothing", &[]),
    case("the context taken", &[(O, "(item: Item)", "(item: Item, ctx: Context)")], "nothing", &[]),
    case("a helper", &[(O, "    #[step]", "    fn help() {}\n\n    #[step]")], "nothing", &[]),
    case("visibility", &[(O, "pub mod orders", "pub(crate) mod orders")], "nothing", &[]),
    case(
        "a function renamed, its slug kept",
        &[
            (
                O,
                "#[step]\n    pub async fn fetch",
                "#[step(slug = \"fetch\")]\n    pub async fn get",
            ),
            (O, "depends_on = [fetch]", "depends_on = [get]"),
            (O, "fetch as items", "get as items"),
        ],
        "nothing",
        &[],
    ),
    case(
        "the module renamed, its slug kept",
        &[(
            O,
            "(input = Order, max_attempts = 4)]\npub mod orders",
            "(slug = \"orders\", input = Order, max_attempts = 4)]\npub mod shop",
        )],
        "nothing",
        &[],
    ),
    case(
        "the flow in an inline module",
        &[
            (O, "#[flow", "pub mod inner { use super::*;\n#[flow"),
            (O, "{ Ok(()) }\n}", "{ Ok(()) }\n}}"),
        ],
        "nothing",
        &[],
    ),
    case(
        "a condition on the module",
        &[(O, "#[flow", "#[cfg(feature = \"shop\")]\n#[flow")],
        "nothing",
        &[],
    ),
    case("a duration in words", &[(O, "timeout = 30", "timeout = \"30s\"")], "nothing", &[]),
    case(
        "a default spelled out",
        &[(O, "when_exhausted = skip", "when_unmet = skip, when_exhausted = skip")],
        "nothing",
        &[],
    ),
    case("a pattern laid out", &[(O, "{ \"sum\": 1 }", "{\n  \"sum\": 1,\n}")], "nothing", &[]),
    case(
        "a flow in a test module",
        &[(
            O,
            "#[flow",
            "#[cfg(test)]\nmod tests {\n#[flow] mod other { #[step] pub async fn a() -> Result<u8> { Ok(1) } }\n}\n#[flow",
        )],
        "nothing",
        &[],
    ),
    case("the attribute with its path", &[(O, "#[flow(", "#[pgflow::flow(")], "nothing", &[]),
    case(
        "a macro beside it",
        &[(O, "#[flow", "thread_local! { static A: u8 = 1; }\n#[flow")],
        "nothing",
        &[],
    ),
    case(
        "a file of its own, nested",
        &[(L, "mod orders;", "mod shop { pub mod orders { include!(\"orders.rs\"); } }")],
        "nothing",
        &[],
    ),
    case(
        "a file by its path",
        &[(L, "mod orders;", "#[path = \"orders.rs\"]\nmod shop;")],
        "nothing",
        &[],
    ),
    case(
        "was, of a step long gone",
        &[(O, "#[step(map,", "#[step(was = \"cost\", map,")],
        "nothing",
        &[],
    ),
    // Types.
    case(
        "an output of another type",
        &[
            (O, "Result<u32> { Ok(item", "Result<u64> { Ok(item"),
            (O, "price: Vec<u32>", "price: Vec<u64>"),
        ],
        "types",
        LOCK,
    ),
    case(
        "an input of another type",
        &[(O, "input = Order", "input = Basket"), (O, "run: Order", "run: Basket")],
        "types",
        LOCK,
    ),
    // Options.
    case("an option of the flow", &[(O, "max_attempts = 4", "max_attempts = 9")], "options", TUNE),
    case("an option of the flow removed", &[(O, ", max_attempts = 4", "")], "options", TUNE),
    case("an option of a step", &[(O, "timeout = 30", "timeout = 31")], "options", TUNE),
    case("an option of a step removed", &[(O, ", timeout = 30", "")], "options", TUNE),
    case("a delay", &[(O, "#[step(map,", "#[step(start_delay = \"1m\", map,")], "options", TUNE),
    case(
        "options of flow and steps, and a type",
        &[
            (O, "max_attempts = 4", "max_attempts = 9, base_delay = 2"),
            (O, "timeout = 30", "timeout = 31, max_attempts = 2"),
            (O, "Result<()>", "Result<u8>"),
        ],
        "options",
        TUNE,
    ),
    // Several flows.
    case(
        "a second flow",
        &[(
            L,
            "mod orders;",
            "mod orders;\n#[pgflow::flow]\nmod mail { #[step] pub async fn send() -> Result<()> { Ok(()) } }",
        )],
        "nothing",
        &["0002_create_mail.sql", "pgflow.lock"],
    ),
    case(
        "a second flow in a new file",
        &[
            (L, "mod orders;", "mod orders;\nmod mail;"),
            (
                "src/mail.rs",
                "",
                "#[pgflow::flow]\nmod mail { #[step] pub async fn send() -> Result<()> { Ok(()) } }",
            ),
        ],
        "nothing",
        &["0002_create_mail.sql", "pgflow.lock"],
    ),
    case(
        "a second flow, and the first changed",
        &[
            (
                L,
                "mod orders;",
                "mod orders;\n#[pgflow::flow]\nmod mail { #[step] pub async fn send() -> Result<()> { Ok(()) } }",
            ),
            (O, "when_exhausted = skip", "when_exhausted = fail"),
        ],
        "compatible",
        &["0002_create_mail.sql", "0003_create_orders_v2.sql", "pgflow.lock"],
    ),
    case(
        "moved to another file",
        &[(L, "mod orders;", "mod shop;"), (O, ORDERS, ""), ("src/shop.rs", "", ORDERS)],
        "nothing",
        &[],
    ),
    case(
        "the flow renamed",
        &[(O, "pub mod orders", "pub mod sales")],
        "gone",
        &["0002_create_sales.sql", "pgflow.lock"],
    ),
    case("the flow removed", &[(O, ORDERS, "")], "gone", &[]),
    case("the flow in tests only", &[(O, "#[flow", "#[cfg(test)]\n#[flow")], "gone", &[]),
];
