//! Random flows, as Rust.

use std::fmt::Write as _;

/// Numbers that look random and are the same every time.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Below `limit`.
    fn below(&mut self, limit: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).expect("31 bits") % limit
    }

    fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }
}

/// A flow `f<n>` of up to `most` steps.
pub(crate) fn flow(random: &mut Random, n: usize, most: usize) -> String {
    let size = 1 + random.below(most);
    of_size(random, n, size)
}

/// A flow `f<n>` of so many steps.
pub(crate) fn of_size(random: &mut Random, n: usize, size: usize) -> String {
    let mut text = format!("#[pgflow::flow(input = Vec<u8>{})]\nmod f{n} {{\n", options(random, 3));
    let mut is_map = Vec::new();
    for at in 0..size {
        let step = step(random, at, &mut is_map);
        text.push_str(&step);
    }
    text + "}\n"
}

/// Step `s<at>`, after some of those before it.
fn step(random: &mut Random, at: usize, is_map: &mut Vec<bool>) -> String {
    let map = random.one_in(4);
    let wanted = if map { random.below(2) } else { random.below(5) };
    let mut deps: Vec<usize> = Vec::new();
    for _ in 0..wanted.min(at) {
        let dep = random.below(at);
        if !deps.contains(&dep) {
            deps.push(dep);
        }
    }
    is_map.push(map);
    let mut args = String::from(if map { "map" } else { "slug = \"" });
    if !map {
        let _ = write!(args, "s{at}\"");
    }
    if !deps.is_empty() {
        let names: Vec<_> = deps.iter().map(|dep| format!("s{dep}")).collect();
        let _ = write!(args, ", depends_on = [{}]", names.join(", "));
    }
    args += &options(random, 4);
    args += &conditions(random, &deps, map, is_map);
    if random.one_in(5) {
        args += ["", ", when_exhausted = skip", ", when_exhausted = skip_cascade"][random.below(3)];
    }
    let item = if map { "item: u8" } else { "" };
    format!(
        "    #[step({args})]\n    pub async fn s{at}({item}) -> Result<Vec<u8>> {{ Ok(vec![]) }}\n"
    )
}

fn options(random: &mut Random, known: usize) -> String {
    let names = ["max_attempts", "base_delay", "timeout", "start_delay"];
    let mut text = String::new();
    for name in &names[..known] {
        if random.one_in(4) {
            let _ = write!(text, ", {name} = {}", 1 + random.below(1000));
        }
    }
    text
}

/// Texts that SQL, JSON or Rust could trip over.
const TRICKY: [&str; 5] = ["it's", "a\\\\b", "say \\\"hi\\\"", "größe; --", "$1 :x /* */"];

fn conditions(random: &mut Random, deps: &[usize], map: bool, is_map: &[bool]) -> String {
    let mut text = String::new();
    let first = random.below(TRICKY.len());
    for (name, number) in [("only_if", first), ("unless", first + 1)] {
        if !random.one_in(4) || (map && deps.is_empty()) {
            continue;
        }
        // Another text for each: what meets both never runs, which is refused.
        let value = TRICKY[number % TRICKY.len()];
        let pattern = match deps.first() {
            None => format!("{{ \"kind\": \"{value}\" }}"),
            Some(&dep) if is_map[dep] => format!("{{ \"s{dep}\": [\"{value}\"] }}"),
            Some(&dep) => format!("{{ \"s{dep}\": {{ \"kind\": [1, \"{value}\", null] }} }}"),
        };
        let _ = write!(text, ", {name} = {pattern}");
    }
    if !text.is_empty() && random.one_in(2) {
        text += ", when_unmet = skip_cascade";
    }
    text
}
