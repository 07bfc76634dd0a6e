//! Arguments of `#[data(…)]`.

use syn::Path;
use syn::parse::ParseStream;

use crate::args::{DATA, crate_path, each_option};
use crate::errors::Errors;
use crate::value::boolean;

/// What `#[data(…)]` said.
pub struct DataArgs {
    /// Whether `JsonSchema` is derived too.
    pub has_schema: bool,
    /// Where `pgflow` is, if it is not `::pgflow`.
    pub crate_path: Option<Path>,
}

impl DataArgs {
    /// Reads the arguments.
    pub fn read(args: ParseStream<'_>, errors: &mut Errors) -> syn::Result<Self> {
        let mut out = Self { has_schema: true, crate_path: None };
        each_option(args, &DATA, errors, |name, args| {
            if name == "crate" {
                out.crate_path = Some(crate_path(args, name)?);
            } else {
                out.has_schema = boolean(args, name)?;
            }
            Ok(())
        })?;
        Ok(out)
    }
}
