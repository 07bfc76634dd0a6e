//! Edits that no migration can follow.

use super::cases::{Case, L, O, case};

pub(crate) const REFUSED: &[Case] = &[
    case(
        "two flows of one name",
        &[(
            L,
            "mod orders;",
            "mod orders;\n#[pgflow::flow(slug = \"orders\")]\nmod mail { #[step] pub async fn send() -> Result<()> { Ok(()) } }",
        )],
        "src/orders.rs:4:9: flow `orders` is there twice, and differently: also at src/lib.rs:3:5",
        &[],
    ),
    case(
        "a name for a version",
        &[(
            L,
            "mod orders;",
            "mod orders;\n#[pgflow::flow]\nmod orders__v2 { #[step] pub async fn send() -> Result<()> { Ok(()) } }",
        )],
        "src/lib.rs:3:5: a flow cannot be called `orders__v2`",
        &[],
    ),
    case(
        "was, of a step that never was",
        &[
            (O, "pub async fn tell", "pub async fn say"),
            (O, "when_exhausted = skip", "was = \"tel\""),
        ],
        "src/orders.rs:16:62: there was no step `tel` in version 1 of this flow\nhelp: did you mean `\"tell\"`?",
        &[],
    ),
    case(
        "was, of a step that is there",
        &[(O, "when_exhausted = skip", "was = \"sum\"")],
        "step `tell` cannot have been `sum`: step `sum` is",
        &[],
    ),
    case(
        "a mistake in a flow",
        &[(O, "[price, fetch as items]", "[prize, fetch as items]")],
        "src/orders.rs:13:26: there is no step `prize` in this flow\nhelp: did you mean `price`?",
        &[],
    ),
    case(
        "a version that is not known",
        &[(O, "(input", "(version = 7, input")],
        "there is no version 7 of flow `orders` in `pgflow.lock`\nhelp: leave `version` away: a new version gets its number by itself",
        &[],
    ),
    case(
        "a kept version that changed",
        &[
            (O, "(input", "(version = 1, input"),
            (O, "(map, depends_on = [fetch])", "(depends_on = [fetch])"),
            (O, "item: Item", "fetch: Vec<Item>"),
        ],
        "version 1 of flow `orders` is kept for its runs in flight, so its shape stays as it was\nnote: step `price`: kind was map, now single\nhelp: change the newest version instead, which has no `version = …`",
        &[],
    ),
];
