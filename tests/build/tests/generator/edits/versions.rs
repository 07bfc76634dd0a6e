//! Edits that make a new version.

use super::cases::{Case, O, V2, case};

pub(crate) const VERSIONS: &[Case] = &[
    // Compatible versions.
    case(
        "a leaf added",
        &[(
            O,
            "    #[step(depends_on = [sum],",
            "    #[step(depends_on = [sum])]\n    pub async fn log(sum: u32) -> Result<()> { Ok(()) }\n\n    #[step(depends_on = [sum],",
        )],
        "compatible",
        V2,
    ),
    case(
        "a root added",
        &[(
            O,
            "    #[step]",
            "    #[step]\n    pub async fn hello() -> Result<()> { Ok(()) }\n\n    #[step]",
        )],
        "compatible",
        V2,
    ),
    case(
        "an edge removed",
        &[(O, "[price, fetch as items]", "[price]"), (O, "items: Vec<Item>, price", "price")],
        "compatible",
        V2,
    ),
    case(
        "a step renamed with was",
        &[
            (
                O,
                "(map, depends_on = [fetch])]\n    pub async fn price",
                "(map, depends_on = [fetch], was = \"price\")]\n    pub async fn cost",
            ),
            (O, "[price, fetch", "[cost, fetch"),
            (O, "price: Vec<u32>", "cost: Vec<u32>"),
        ],
        "compatible",
        V2,
    ),
    case(
        "a slug given with was",
        &[(O, "#[step]", "#[step(slug = \"load\", was = \"fetch\")]")],
        "compatible",
        V2,
    ),
    case(
        "a policy",
        &[(O, "when_exhausted = skip", "when_exhausted = skip_cascade")],
        "compatible",
        V2,
    ),
    case(
        "a policy of a condition",
        &[(O, "when_exhausted = skip", "when_unmet = fail, when_exhausted = skip")],
        "compatible",
        V2,
    ),
    case("a condition changed", &[(O, "{ \"sum\": 1 }", "{ \"sum\": 2 }")], "compatible", V2),
    case("a condition removed", &[(O, "only_if = { \"sum\": 1 }, ", "")], "compatible", V2),
    case(
        "a condition added",
        &[(O, "only_if", "unless = { \"sum\": 0 }, only_if")],
        "compatible",
        V2,
    ),
    case(
        "a dependency that may be skipped",
        &[
            (O, "timeout = 30", "timeout = 30, when_exhausted = skip"),
            (O, "(sum: u32)", "(sum: Option<u32>)"),
        ],
        "compatible",
        V2,
    ),
    case(
        "a policy and an option",
        &[
            (O, "when_exhausted = skip", "when_exhausted = fail"),
            (O, "timeout = 30", "timeout = 60"),
        ],
        "compatible",
        V2,
    ),
    // Incompatible versions.
    case(
        "a step removed",
        &[(
            O,
            "    #[step(depends_on = [sum], only_if = { \"sum\": 1 }, when_exhausted = skip)]\n    pub async fn tell(sum: u32) -> Result<()> { Ok(()) }\n",
            "",
        )],
        "incompatible",
        V2,
    ),
    case("a step renamed", &[(O, "pub async fn tell", "pub async fn say")], "incompatible", V2),
    case("a slug changed", &[(O, "#[step]", "#[step(slug = \"load\")]")], "incompatible", V2),
    case(
        "an edge added",
        &[
            (O, "[sum], only_if", "[sum, price], only_if"),
            (O, "(sum: u32)", "(sum: u32, price: Vec<u32>)"),
        ],
        "incompatible",
        V2,
    ),
    case(
        "a step inserted",
        &[(
            O,
            "    #[step(map, depends_on = [fetch])]",
            "    #[step(depends_on = [fetch])]\n    pub async fn sort(fetch: Vec<Item>) -> Result<Vec<Item>> { Ok(fetch) }\n\n    #[step(map, depends_on = [sort])]",
        )],
        "incompatible",
        V2,
    ),
    case(
        "map to single",
        &[
            (O, "(map, depends_on = [fetch])", "(depends_on = [fetch])"),
            (O, "item: Item", "fetch: Vec<Item>"),
        ],
        "incompatible",
        V2,
    ),
    case(
        "single to map",
        &[
            (
                O,
                "#[step(depends_on = [price, fetch as items], timeout = 30)]",
                "#[step(map, depends_on = [price], timeout = 30)]",
            ),
            (O, "items: Vec<Item>, price: Vec<u32>", "item: u32"),
            (O, "{ \"sum\": 1 }", "{ \"sum\": [1] }"),
            (O, "sum: u32", "sum: Vec<u32>"),
        ],
        "incompatible",
        V2,
    ),
];
