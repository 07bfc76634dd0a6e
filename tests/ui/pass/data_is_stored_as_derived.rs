//! `#[data]` stores and describes types as the derives of serde and schemars do.

macro_rules! types {
    ($(#[$attribute:meta])+) => {
        /// A page that was fetched.
        $(#[$attribute])+
        #[serde(rename_all = "camelCase")]
        pub struct Page {
            /// Where it is.
            pub full_url: String,
            pub title: Option<String>,
            #[serde(default, rename = "n")]
            pub count: u32,
            #[serde(skip)]
            pub seen: bool,
            pub links: Vec<Page>,
            pub parent: Option<Box<Page>>,
            pub r#type: Kind,
            #[serde(flatten)]
            pub more: More,
        }

        $(#[$attribute])+
        #[serde(tag = "is", rename_all = "snake_case")]
        pub enum Kind {
            Plain,
            Rich { images: (u8, Id) },
            Other(Empty),
        }

        $(#[$attribute])+
        pub struct More {
            pub lang: std::collections::BTreeMap<String, f64>,
        }

        $(#[$attribute])+
        pub struct Id(u64);

        $(#[$attribute])+
        pub struct Empty {}

        $(#[$attribute])+
        pub struct Unit;

        $(#[$attribute])+
        #[derive(Default)]
        #[serde(default, deny_unknown_fields)]
        pub struct Options {
            pub level: Option<Level>,
            pub r#in: Vec<Self>,
        }

        $(#[$attribute])+
        #[derive(Clone, Copy, Default)]
        pub enum Level {
            #[default]
            Low = 1,
            High = 7,
        }
    };
}

mod data {
    types!(#[pgflow::data]);
}

mod derived {
    use pgflow::prelude::*;
    types!(#[derive(Serialize, Deserialize, JsonSchema)]);
}

const PAGES: [&str; 5] = [
    r#"{"fullUrl":"/","title":null,"n":0,"links":[],"parent":null,"type":{"is":"plain"},"lang":{}}"#,
    r#"{"fullUrl":"/","links":[],"type":{"is":"rich","images":[1,2]},"lang":{"en":0.5}}"#,
    r#"{"fullUrl":"/","links":[{"fullUrl":"/a"}],"type":{"is":"other"},"lang":{}}"#,
    r#"{"fullUrl":7}"#,
    "[]",
];

/// What a text is read as and written again, or why it is not.
fn read<T: serde::Serialize + serde::de::DeserializeOwned>(text: &str) -> String {
    match serde_json::from_str::<T>(text) {
        Ok(value) => serde_json::to_string(&value).unwrap(),
        Err(why) => why.to_string(),
    }
}

fn main() {
    for page in PAGES {
        assert_eq!(read::<data::Page>(page), read::<derived::Page>(page), "{page}");
    }
    assert_eq!(read::<data::Page>(PAGES[0]), PAGES[0]);
    assert_eq!(read::<data::Unit>("null"), read::<derived::Unit>("null"));
    let options = r#"{"level":"High","in":[{}]}"#;
    assert_eq!(read::<data::Options>(options), read::<derived::Options>(options));
    assert_eq!(schemars::schema_for!(data::Options), schemars::schema_for!(derived::Options));
    assert_eq!(read::<data::Id>("{}"), read::<derived::Id>("{}"));
    assert_eq!(schemars::schema_for!(data::Page), schemars::schema_for!(derived::Page));
    assert_eq!(schemars::schema_for!(data::Unit), schemars::schema_for!(derived::Unit));
    assert_eq!(
        <data::Page as schemars::JsonSchema>::schema_id().replace("data", "derived"),
        <derived::Page as schemars::JsonSchema>::schema_id(),
    );
}
