//! What became of an action: a word for the address of the page after it, and a sentence on that page.

macro_rules! said {
    ($(#[$doc:meta])* $name:ident { $($variant:ident = $word:literal: $sentence:literal,)+ }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Deserialize)]
        pub(crate) enum $name {
            $(#[serde(rename = $word)] $variant,)+
        }

        impl $name {
            const fn word(self) -> &'static str {
                match self { $(Self::$variant => $word,)+ }
            }

            pub(crate) const fn sentence(self) -> &'static str {
                match self { $(Self::$variant => $sentence,)+ }
            }
        }
    };
}

pub(crate) use said;
