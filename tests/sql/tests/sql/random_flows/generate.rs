//! Makes flows up.

use serde_json::{Value, json};

use super::model::{Flow, Mode, Step};
use crate::harness::Random;

pub(super) fn flow(random: &mut Random, slug: &str) -> Flow {
    let count = 1 + random.below(8);
    let mut flow =
        Flow { slug: slug.to_owned(), input: json!({"go": random.below(2)}), steps: Vec::new() };
    for index in 0..count {
        let step = step(random, index, &flow);
        flow.steps.push(step);
    }
    if flow.steps.iter().any(|step| step.is_map && step.deps.is_empty()) {
        flow.input = array(random);
    }
    for index in 0..count {
        if flow.feeds_map(index) && !flow.steps[index].is_map {
            // Now and then something that no map can take.
            flow.steps[index].array =
                Some(if random.chance(4) { json!("no array") } else { array(random) });
        }
    }
    flow
}

fn step(random: &mut Random, index: usize, flow: &Flow) -> Step {
    let mut deps: Vec<usize> = (0..index).filter(|_| random.chance(35)).collect();
    let is_map = random.chance(35);
    if is_map {
        deps.truncate(1);
    }
    let max_attempts = 1 + random.below(3) as u64;
    let exhausted = random.chance(10);
    Step {
        // Slugs whose order is not that of the definition.
        slug: format!("{}{index}", random.pick(&["a", "m", "z"])),
        is_map,
        required: pattern(random, &deps, flow),
        forbidden: pattern(random, &deps, flow),
        when_unmet: mode(random),
        when_exhausted: mode(random),
        max_attempts,
        failures: if exhausted {
            max_attempts
        } else {
            random.below(usize::try_from(max_attempts).expect("small")) as u64
        },
        array: None,
        deps,
    }
}

fn mode(random: &mut Random) -> Mode {
    random.pick(&[Mode::Fail, Mode::Skip, Mode::Skip, Mode::SkipCascade, Mode::SkipCascade])
}

/// For a root something about the input, else something about the kind of a dependency's output.
fn pattern(random: &mut Random, deps: &[usize], flow: &Flow) -> Option<Value> {
    if !random.chance(15) {
        return None;
    }
    if deps.is_empty() {
        return Some(json!({"go": random.below(2)}));
    }
    let dep = &flow.steps[random.pick(deps)].slug;
    let value = random.pick(&["{}", "[]"]);
    Some(json!({ dep: serde_json::from_str::<Value>(value).expect("JSON") }))
}

fn array(random: &mut Random) -> Value {
    let length = random.below(5);
    Value::Array((0..length).map(|_| json!(random.below(100))).collect())
}
