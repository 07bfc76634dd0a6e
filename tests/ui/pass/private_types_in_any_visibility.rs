//! Private types in flows of any visibility.
#![deny(warnings)]

mod outer {
    pub(super) mod inner {
        use pgflow::prelude::*;

        #[derive(Serialize, Deserialize, JsonSchema)]
        pub(in super::super) struct Secret(u32);

        #[flow(input = Secret)]
        pub(super) mod narrow {
            #[step]
            pub(crate) async fn same(run: super::Secret) -> pgflow::Result<super::Secret> {
                Ok(run)
            }
        }

        #[flow(input = Secret)]
        pub(crate) mod wide {
            #[step]
            async fn same(run: super::Secret) -> pgflow::Result<u32> {
                Ok(run.0)
            }
        }

        #[flow(input = Secret)]
        mod hidden {
            #[step]
            pub async fn same(run: super::Secret) -> pgflow::Result<u32> {
                Ok(run.0)
            }
        }

        pub(in super::super) fn slugs() -> [&'static str; 3] {
            [narrow::Flow::SLUG, wide::Flow::SLUG, hidden::Flow::SLUG]
        }
    }
}

fn main() {
    assert_eq!(outer::inner::slugs(), ["narrow", "wide", "hidden"]);
}
