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

        #[derive(Serialize, Deserialize, JsonSchema)]
        struct Own(u32);

        #[flow(input = Own)]
        mod restricted {
            #[step]
            pub(crate) async fn everywhere(run: super::Own) -> pgflow::Result<super::Own> {
                Ok(run)
            }

            #[step]
            pub(in crate::outer) async fn in_a_path(run: super::Own) -> pgflow::Result<super::Own> {
                Ok(run)
            }

            #[step]
            pub(in super::super) async fn two_up(run: super::Own) -> pgflow::Result<super::Own> {
                Ok(run)
            }
        }

        #[flow(input = Secret)]
        pub(in crate::outer) mod in_a_path {
            #[step]
            pub(crate) async fn everywhere(run: super::Secret) -> pgflow::Result<super::Secret> {
                Ok(run)
            }

            #[step]
            pub(in super::super) async fn two_up(run: super::Secret) -> pgflow::Result<u32> {
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

        pub(in super::super) fn slugs() -> [&'static str; 5] {
            assert_eq!(restricted::Flow::start(&Own(1)).expect("a number").input(), 1);
            [
                narrow::Flow::SLUG,
                wide::Flow::SLUG,
                hidden::Flow::SLUG,
                restricted::Flow::SLUG,
                in_a_path::Flow::SLUG,
            ]
        }
    }
}

fn main() {
    let slugs = ["narrow", "wide", "hidden", "restricted", "in_a_path"];
    assert_eq!(outer::inner::slugs(), slugs);
}
