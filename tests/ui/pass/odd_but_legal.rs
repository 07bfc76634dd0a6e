//! Flows that nobody would write like that, each for one oddity. All compile without a warning, and run.
#![deny(warnings)]

use std::collections::{BTreeMap, HashMap};

use pgflow::prelude::*;
use pgflow::testing::{Runner, block_on};

mod types {
    pub mod deep {
        #[pgflow::data]
        #[derive(Clone, Debug, PartialEq)]
        pub struct Found {
            pub at: u8,
        }
    }
    pub use deep::Found as Renamed;
}
pub use types::Renamed as Found;

#[flow(input = u8)]
mod generics_in_helpers {
    use super::*;
    fn largest<T: PartialOrd + Copy, const N: usize>(of: [T; N]) -> Option<T> {
        of.into_iter().reduce(|one, other| if one > other { one } else { other })
    }
    #[step]
    pub async fn last(run: u8) -> Result<u8> { Ok(largest([1, run, 3]).ok_or("none")?) }
}

#[flow(input = String)]
mod lifetimes_in_helpers {
    use super::*;
    struct Words<'a>(&'a str);
    impl<'a> Words<'a> {
        fn first(&self) -> &'a str { self.0.split(' ').next().unwrap_or_default() }
    }
    async fn borrowed<'a, 'b: 'a>(one: &'a str, _other: &'b str) -> &'a str { one }
    #[step]
    pub async fn last(run: String) -> Result<String> { Ok(borrowed(Words(&run).first(), "b").await.to_owned()) }
}

/// Documented.
#[flow(input = u8)]
/// In two places.
mod documented {
    //! And in a third.
    use super::*;
    /// A step, with `code`, "quotes" and a # heading.
    ///
    /// # Errors
    /// None.
    #[doc = "More."]
    #[step]
    /// After the attribute.
    pub async fn last(/* the input */ run: u8 /* of the run */) -> Result<u8> { Ok(run) }
}

#[cfg(not(any()))]
#[flow(input = u8)]
mod under_a_condition {
    use super::*;
    #[cfg(any())]
    compile_error!("it is not there");
    #[step]
    pub async fn last(run: u8) -> Result<u8> {
        #[cfg(any())]
        let run = "it is not there";
        Ok(run)
    }
}

#[flow(input = u8)]
mod r#gen {
    use super::*;
    #[step]
    pub async fn r#gen(run: u8) -> Result<u8> { Ok(run) }
    #[step(depends_on = [r#gen as r#try])]
    pub async fn last(r#try: u8) -> Result<u8> { Ok(r#try) }
}

pub(crate) mod visibility {
    use super::*;
    #[flow(input = u8)]
    pub(in super::visibility) mod seen {
        use super::*;
        #[step]
        pub(in crate::visibility) async fn last(run: u8) -> Result<u8> { Ok(run) }
    }
    pub(crate) fn run() -> u8 { block_on(pgflow::testing::run(seen::Flow, 7)).unwrap().output().unwrap().last }
}

#[flow(input = u8)]
mod nested_modules {
    use super::*;
    mod inside {
        pub(super) mod deeper {
            pub(in super::super) fn twice(of: u8) -> u8 { of * 2 }
        }
        pub(super) use deeper::twice;
    }
    #[step]
    pub async fn last(run: u8) -> Result<u8> { Ok(inside::twice(run)) }
}

#[flow(input = crate::types::deep::Found)]
mod re_exported {
    use super::types;
    use pgflow::prelude::*;
    #[step]
    pub async fn first(run: super::Found) -> Result<types::Renamed> { Ok(run) }
    #[step(depends_on = [first])]
    pub async fn last(first: crate::types::deep::Found) -> Result<u8> { Ok(first.at) }
}

#[flow(input = u8)]
mod async_blocks {
    use super::*;
    #[step]
    pub async fn last(run: u8) -> Result<u8> {
        let add = |one: u8| async move { one + 1 };
        let block = async { Ok::<u8, Error>(add(run).await) };
        let checked = async || block.await;
        checked().await
    }
}

#[flow(input = Vec<u8>)]
mod impl_trait {
    use super::*;
    fn sum(of: impl IntoIterator<Item = impl Into<u32>>) -> u32 { of.into_iter().map(Into::into).sum() }
    fn evens(of: &[u8]) -> impl Iterator<Item = u8> + '_ { of.iter().copied().filter(|it| it % 2 == 0) }
    #[step]
    pub async fn last(run: Vec<u8>) -> Result<u32> { Ok(sum(evens(&run))) }
}

#[flow]
mod nothing_at_all {
    use super::*;
    #[step]
    pub async fn first() -> Result<()> { Ok(()) }
    #[step(depends_on = first)]
    pub async fn last(first: ()) -> Result<()> { Ok(first) }
}

#[flow(input = Option<u8>)]
mod options {
    use super::*;
    #[step]
    pub async fn first(run: Option<u8>) -> Result<Option<Option<u8>>> { Ok(Some(run)) }
    #[step(depends_on = [first], when_exhausted = skip)]
    pub async fn second(first: Option<Option<u8>>) -> Result<Option<u8>> { Ok(first.flatten()) }
    #[step(depends_on = [second])]
    pub async fn last(second: Option<Option<u8>>) -> Result<u8> { Ok(second.flatten().unwrap_or(9)) }
}

#[flow(input = (u8, (String, [i16; 3]), bool))]
mod tuples {
    use super::*;
    #[step]
    pub async fn last(run: (u8, (String, [i16; 3]), bool)) -> Result<(u8, usize, i16)> { Ok((run.0, run.1.0.len(), run.1.1[2])) }
}

#[flow(input = u8)]
mod maps_of_maps {
    use super::*;
    #[step]
    pub async fn first(run: u8) -> Result<HashMap<String, BTreeMap<u32, Vec<Option<Found>>>>> {
        Ok([("a".to_owned(), [(7, vec![None, Some(Found { at: run })])].into())].into())
    }
    #[step(depends_on = [first])]
    pub async fn last(first: HashMap<String, BTreeMap<u32, Vec<Option<Found>>>>) -> Result<u8> {
        Ok(first["a"][&7][1].as_ref().ok_or("nothing")?.at)
    }
}

macro_rules! many_variants {
    ($($name:ident)*) => {
        #[data]
        #[derive(Clone, Copy, Debug, PartialEq)]
        pub enum Many { $($name,)* Held { by: u8 }, Pair(u8, bool), #[serde(rename = "the-last")] Last(#[serde(default)] Option<u8>) }
        pub const VARIANTS: usize = [$(stringify!($name)),*].len();
    };
}
many_variants! { A0 A1 A2 A3 A4 A5 A6 A7 A8 A9 B0 B1 B2 B3 B4 B5 B6 B7 B8 B9 C0 C1 C2 C3 C4 C5 C6 C7 C8 C9 D0 D1 D2 D3 D4 D5 D6 D7 D8 D9 }

#[flow(input = Many)]
mod a_big_enum {
    use super::*;
    #[step]
    pub async fn first(run: Many) -> Result<Vec<Many>> { Ok(vec![run; VARIANTS]) }
    #[step(map, depends_on = [first])]
    pub async fn each(item: Many) -> Result<bool> { Ok(item == Many::D9) }
    #[step(depends_on = [each])]
    pub async fn last(each: Vec<bool>) -> Result<usize> { Ok(each.into_iter().filter(|it| *it).count()) }
}

#[data]
pub struct Tree { leaf: u8, below: Vec<Tree>, beside: Option<Box<Tree>> }

#[flow(input = Tree)]
mod recursive {
    use super::*;
    fn sum(tree: &Tree) -> u8 { tree.leaf + tree.below.iter().map(sum).sum::<u8>() + tree.beside.as_deref().map_or(0, sum) }
    #[step]
    pub async fn last(run: Tree) -> Result<u8> { Ok(sum(&run)) }
}

#[data]
pub struct Wrapped<T, const N: usize = 2> { items: Vec<T> }
pub type Numbers = Wrapped<u8>;

#[flow(input = Numbers)]
mod a_generic_type_behind_an_alias {
    use super::*;
    #[step]
    pub async fn last(run: Wrapped<u8, 2>) -> Result<Wrapped<Wrapped<u8>, 3>> { Ok(Wrapped { items: vec![run] }) }
}

#[flow(input = Vec<u8>)]
mod mutable_parameters {
    use super::*;
    #[step]
    pub async fn first(mut run: Vec<u8>) -> Result<Vec<u8>> { run.reverse(); Ok(run) }
    #[step(map, depends_on = [first])]
    pub async fn each(mut item: u8, mut ctx: Context) -> Result<u8> { item += 1; let _ = &mut ctx; Ok(item) }
    #[step(depends_on = [each as all])]
    pub async fn last(#[allow(unused_mut)] mut all: Vec<u8>, _run: Vec<u8>, _ctx: Context) -> Result<Vec<u8>> { Ok(all) }
}

pub struct Shared<T: ?Sized>(std::sync::Arc<T>);
impl<T: ?Sized> Clone for Shared<T> { fn clone(&self) -> Self { Self(self.0.clone()) } }
pub trait Greets: Send + Sync { fn greet(&self, who: u8) -> String; }
impl<F: Fn(u8) -> String + Send + Sync> Greets for F { fn greet(&self, who: u8) -> String { self(who) } }

#[flow(input = u8)]
mod state_of_a_trait {
    use super::*;
    #[step]
    pub async fn last(State(Shared(greets)): State<Shared<dyn Greets>>, run: u8, limit: State<u16>) -> Result<String> {
        let State(limit) = limit;
        Ok(greets.greet(run).chars().take(limit.into()).collect())
    }
}

#[flow(input = ::std::vec::Vec<::std::string::String>)]
mod whole_paths {
    #[::pgflow::step]
    pub async fn last(run: ::std::vec::Vec<::std::string::String>) -> ::pgflow::Result<::core::primitive::usize> { ::core::result::Result::Ok(run.len()) }
}

#[pgflow::flow(input = u8,)]
mod odd_punctuation {
    use super::*;
    #[step()]
    pub async fn a(run: u8,) -> Result<u8,> { Ok(run) }
    #[step(depends_on = [a,],)]
    pub async fn b(a: u8) -> Result<Vec<u8>> { Ok(vec![a; 3]) }
    #[step(max_attempts = 1_0, depends_on=[b],map)]
    pub async fn c(item: u8) -> Result<u8> { Ok(item) }
    #[step{ depends_on = [c as c] }]
    pub async fn last(c: Vec<u8>) -> Result<usize> { Ok(c.len()) }
}

#[flow(input = u8)]
mod names_of_others {
    use super::*;
    #[step]
    pub async fn drop(run: u8) -> Result<u8> { Ok(run) }
    #[step(depends_on = [drop])]
    pub async fn map(drop: u8) -> Result<u8> { Ok(drop) }
    #[step(depends_on = [map])]
    pub async fn result(map: u8) -> Result<u8> { Ok(map) }
    #[step(depends_on = [result])]
    pub async fn task(result: u8) -> Result<u8> { Ok(result) }
    #[step(depends_on = [task])]
    pub async fn it(task: u8) -> Result<u8> { Ok(task) }
    #[step(depends_on = [it])]
    pub async fn why(it: u8) -> Result<u8> { Ok(it) }
    #[step(depends_on = [why as task])]
    pub async fn value(task: u8) -> Result<u8> { Ok(task) }
    #[step(depends_on = [value])]
    pub async fn main(value: u8) -> Result<u8> { Ok(value) }
    #[step(depends_on = [main])]
    pub async fn flow(main: u8) -> Result<u8> { Ok(main) }
    #[step(depends_on = [flow])]
    pub async fn output(flow: u8) -> Result<u8> { Ok(flow) }
    #[step(depends_on = [output])]
    pub async fn last(output: u8) -> Result<u8> { Ok(output) }
}

#[flow(input = u8)]
mod result {
    use super::*;
    #[step]
    pub async fn last(run: u8) -> Result<u8, String> { if run == 0 { Err("none".to_owned()) } else { Ok(run) } }
}

#[flow(input = Vec<Vec<u8>>)]
mod maps_behind_each_other {
    use super::*;
    #[step(map)]
    pub async fn a(item: Vec<u8>) -> Result<Vec<u8>> { Ok(item) }
    #[step(map, depends_on = [a])]
    pub async fn b(item: Vec<u8>) -> Result<u8> { Ok(item.iter().sum()) }
    #[step(map, depends_on = [b as one])]
    pub async fn c(one: u8) -> Result<Option<u8>> { Ok(one.checked_sub(3)) }
    #[step(depends_on = [c])]
    pub async fn last(c: Vec<Option<u8>>) -> Result<usize> { Ok(c.iter().flatten().count()) }
}

#[flow(input = u8)]
mod control_flow {
    use super::*;
    #[step]
    #[allow(clippy::never_loop)]
    #[inline(never)]
    pub async fn last(run: u8) -> Result<u8> {
        let Some(next) = run.checked_add(1) else { return Err("too much".into()) };
        let found = 'outer: loop {
            for one in 0.. {
                if one == next { break 'outer one; }
                tokio_free_yield().await;
            }
        };
        match found { 0 => Err(Error::fatal("zero")), it if it > 200 => Err("large")?, it => Ok(it) }
    }
    fn tokio_free_yield() -> impl Future<Output = ()> { std::future::ready(()) }
}

#[flow(input = u8)]
mod a_wide_join {
    use super::*;
    macro_rules! plus { ($($of:ident)*) => { 0 $(+ $of)* } }
    #[step] pub async fn a(run: u8) -> Result<u8> { Ok(run) }
    #[step] pub async fn b(run: u8) -> Result<u8> { Ok(run) }
    #[step] pub async fn c(run: u8) -> Result<u8> { Ok(run) }
    #[step] pub async fn d(run: u8) -> Result<u8> { Ok(run) }
    #[step] pub async fn e(run: u8) -> Result<u8> { Ok(run) }
    #[step(depends_on = [e, d, c, b, a as z])]
    #[allow(clippy::too_many_arguments)]
    pub async fn last(z: u8, b: u8, c: u8, d: u8, e: u8, run: u8, ctx: Context) -> Result<u8> {
        assert_eq!(ctx.attempt(), 1);
        Ok(plus!(z b c d e run))
    }
}

#[flow(input = u8)]
mod types_inside {
    use super::*;
    type Answer<T> = std::result::Result<T, Box<dyn std::error::Error + Send + Sync + 'static>>;
    #[data]
    pub struct Unit;
    #[data]
    pub struct New(Unit, #[serde(default)] u8);
    #[derive(Debug)]
    enum Wrong { Always }
    impl std::fmt::Display for Wrong { fn fmt(&self, to: &mut std::fmt::Formatter<'_>) -> std::fmt::Result { write!(to, "{self:?}") } }
    impl std::error::Error for Wrong {}
    #[step]
    pub async fn first(run: u8) -> Answer<New> { if run > 9 { Err(Wrong::Always)? } Ok(New(Unit, run)) }
    #[step(depends_on = [first])]
    pub async fn last(first: New) -> Answer<u8> { let New(Unit, it) = first; Ok(it) }
}

#[flow(input = u8, schema = false, max_attempts = 0x2, timeout = "1h30m", base_delay = 1)]
mod options_of_all_kinds {
    use super::*;
    #[derive(Serialize, Deserialize)]
    pub struct Plain(u8);
    #[step(slug = "last_of_all", start_delay = "0s", timeout = "90s", when_exhausted = skip_cascade)]
    pub async fn last(run: u8) -> Result<Plain> { Ok(Plain(run)) }
}

macro_rules! last {
    ($flow:ident, $input:expr) => {
        block_on(pgflow::testing::run($flow::Flow, $input)).expect(stringify!($flow)).output().expect("an output").last
    };
}

fn main() {
    assert_eq!(last!(generics_in_helpers, 7), 7);
    assert_eq!(last!(lifetimes_in_helpers, "a b".to_owned()), "a");
    assert_eq!(last!(documented, 7), 7);
    assert_eq!(last!(under_a_condition, 7), 7);
    assert_eq!(last!(r#gen, 7), 7);
    assert_eq!(r#gen::Flow::SLUG, "gen");
    assert_eq!(visibility::run(), 7);
    assert_eq!(last!(nested_modules, 7), 14);
    assert_eq!(last!(re_exported, Found { at: 7 }), 7);
    assert_eq!(last!(async_blocks, 7), 8);
    assert_eq!(last!(impl_trait, vec![1, 2, 4]), 6);
    let () = last!(nothing_at_all, ());
    assert_eq!(last!(options, Some(7)), 7);
    assert_eq!(last!(options, None), 9);
    assert_eq!(last!(tuples, (1, ("two".to_owned(), [0, 0, 3]), true)), (1, 3, 3));
    assert_eq!(last!(maps_of_maps, 7), 7);
    assert_eq!(last!(a_big_enum, Many::D9), 40);
    assert_eq!(last!(a_big_enum, Many::Last(None)), 0);
    let leaf = || Tree { leaf: 1, below: vec![], beside: None };
    assert_eq!(last!(recursive, Tree { leaf: 1, below: vec![leaf()], beside: Some(Box::new(leaf())) }), 3);
    assert_eq!(last!(a_generic_type_behind_an_alias, Numbers { items: vec![7] }).items[0].items, [7]);
    assert_eq!(last!(mutable_parameters, vec![1, 2]), [3, 2]);
    let greets: Shared<dyn Greets> = Shared(std::sync::Arc::new(|who: u8| format!("hello {who}")));
    let runner = Runner::default().state(greets).state(7_u16);
    assert_eq!(block_on(runner.run(state_of_a_trait::Flow, 5)).unwrap().output().unwrap().last, "hello 5");
    assert_eq!(last!(whole_paths, vec!["a".to_owned()]), 1);
    assert_eq!(last!(odd_punctuation, 7), 3);
    assert_eq!(last!(names_of_others, 7), 7);
    assert_eq!(last!(result, 7), 7);
    assert!(block_on(pgflow::testing::run(result::Flow, 0)).is_err());
    assert_eq!(last!(maps_behind_each_other, vec![vec![1, 1], vec![2, 2]]), 1);
    assert_eq!(last!(control_flow, 7), 8);
    assert_eq!(last!(a_wide_join, 1), 6);
    assert_eq!(last!(types_inside, 7), 7);
    assert_eq!(serde_json::to_value(last!(options_of_all_kinds, 7)).unwrap(), 7);
}
