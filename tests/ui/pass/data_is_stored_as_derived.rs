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
        #[serde(rename = "order")]
        pub struct Order {
            #[serde(with = "crate::text")]
            #[schemars(with = "String")]
            pub price: u8,
            #[serde(default, skip_serializing)]
            pub secret: String,
            #[serde(default, skip_serializing_if = "Vec::is_empty")]
            pub tags: Vec<Tag>,
            pub limits: Limits,
            pub event: Event,
        }

        /// As what it holds.
        $(#[$attribute])+
        #[serde(transparent)]
        pub struct Tag(String);

        $(#[$attribute])+
        #[derive(Default)]
        #[serde(transparent)]
        pub struct Note(Option<String>);

        $(#[$attribute])+
        #[derive(Default)]
        #[serde(default)]
        pub struct Limits(u8, Note);

        $(#[$attribute])+
        pub enum Event {
            #[serde(skip)]
            #[allow(dead_code)]
            Inner(crate::Opaque),
            Outer(u8),
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

/// With a default that a function makes, which derives in a macro would not find.
#[pgflow::data]
#[serde(default = "made")]
struct Made {
    level: u8,
    name: String,
}

fn made() -> Made {
    Made { level: 7, name: "seven".to_owned() }
}

/// Is never stored.
pub struct Opaque;

mod text {
    pub fn serialize<S: serde::Serializer>(value: &u8, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(value)
    }
    pub fn deserialize<'de, D: serde::Deserializer<'de>>(from: D) -> Result<u8, D::Error> {
        let text = <String as serde::Deserialize>::deserialize(from)?;
        text.parse().map_err(serde::de::Error::custom)
    }
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
    let order = r#"{"price":"9","secret":"x","tags":["a"],"limits":[3],"event":{"Outer":1}}"#;
    assert_eq!(read::<data::Order>(order), read::<derived::Order>(order));
    assert_eq!(
        read::<data::Order>(order),
        r#"{"price":"9","tags":["a"],"limits":[3,null],"event":{"Outer":1}}"#
    );
    assert_eq!(read::<Made>(r#"{"level":8}"#), r#"{"level":8,"name":"seven"}"#);
    let schema = serde_json::to_value(schemars::schema_for!(Made)).unwrap();
    assert_eq!(schema["properties"]["level"]["default"], 7);
    assert_eq!(read::<data::Order>("[]"), read::<derived::Order>("[]"));
    assert_eq!(schemars::schema_for!(data::Order), schemars::schema_for!(derived::Order));
    assert_eq!(
        <data::Order as schemars::JsonSchema>::schema_name(),
        <derived::Order as schemars::JsonSchema>::schema_name(),
    );
    assert_eq!(read::<data::Id>("{}"), read::<derived::Id>("{}"));
    assert_eq!(schemars::schema_for!(data::Page), schemars::schema_for!(derived::Page));
    assert_eq!(schemars::schema_for!(data::Unit), schemars::schema_for!(derived::Unit));
    assert_eq!(
        <data::Page as schemars::JsonSchema>::schema_id().replace("data", "derived"),
        <derived::Page as schemars::JsonSchema>::schema_id(),
    );
}
