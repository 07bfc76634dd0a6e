//! Types that have all traits and may not be storable nevertheless, as far as their spelling shows it.

use syn::{GenericArgument, PathArguments, Type};

use crate::scalars::{is_scalar, is_wide};

/// Types that are as good as what they hold, beside those about which there is nothing to find out.
const HARMLESS: [&str; 5] = ["String", "Vec", "Option", "Box", "VecDeque"];

fn is_harmless(name: &str) -> bool {
    HARMLESS.contains(&name) || is_scalar(name) && !is_wide(name)
}

/// Whether only the compiler can tell if this type can be stored.
pub fn is_suspect(ty: &Type) -> bool {
    match ty {
        Type::Path(path) => path.path.segments.last().is_none_or(|last| {
            !is_harmless(&last.ident.to_string()) || arguments(&last.arguments).any(is_suspect)
        }),
        Type::Tuple(tuple) => tuple.elems.iter().any(is_suspect),
        Type::Array(array) => is_suspect(&array.elem),
        _ => true,
    }
}

/// The types of the keys of every map in a type.
pub fn map_keys(ty: &Type) -> Vec<&Type> {
    let mut keys = Vec::new();
    add_keys(ty, &mut keys);
    keys
}

fn add_keys<'a>(ty: &'a Type, keys: &mut Vec<&'a Type>) {
    match ty {
        Type::Path(path) => {
            for segment in &path.path.segments {
                let types: Vec<_> = arguments(&segment.arguments).collect();
                if segment.ident.to_string().ends_with("Map") && types.len() > 1 {
                    keys.push(types[0]);
                }
                for ty in types {
                    add_keys(ty, keys);
                }
            }
        }
        Type::Tuple(tuple) => {
            for ty in &tuple.elems {
                add_keys(ty, keys);
            }
        }
        Type::Array(array) => add_keys(&array.elem, keys),
        _ => {}
    }
}

fn arguments(arguments: &PathArguments) -> impl Iterator<Item = &Type> {
    let args = match arguments {
        PathArguments::AngleBracketed(list) => Some(&list.args),
        _ => None,
    };
    args.into_iter().flatten().filter_map(|arg| match arg {
        GenericArgument::Type(ty) => Some(ty),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pretty;

    fn ty(text: &str) -> Type {
        syn::parse_str(text).expect("a type")
    }

    #[test]
    fn plain_types_need_no_look() {
        for text in ["u8", "Vec<Option<String>>", "(u8, [bool; 2])", "std::string::String", "()"] {
            assert!(!is_suspect(&ty(text)), "{text}");
        }
        for text in ["u128", "Order", "Vec<Order>", "HashMap<String, u8>", "(u8, [Order; 2])"] {
            assert!(is_suspect(&ty(text)), "{text}");
        }
    }

    #[test]
    fn finds_keys_wherever_they_are() {
        let found = ty("Vec<(HashMap<A, BTreeMap<B, C>>, my::IndexMap<D, E>)>");
        assert_eq!(map_keys(&found).into_iter().map(pretty).collect::<Vec<_>>(), ["A", "B", "D"]);
    }
}
