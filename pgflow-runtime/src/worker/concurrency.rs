//! How many tasks run at once.

use super::WorkerError;

/// Variables that may say so, the more important first.
const VARIABLES: [&str; 2] = ["PGFLOW_WORKER_CONCURRENCY", "WORKFLOW_POSTGRES_WORKER_CONCURRENCY"];

const DEFAULT: usize = 16;

/// What the program says, or the first variable that is set.
pub(super) fn find(
    program: Option<usize>,
    variable: impl Fn(&str) -> Option<String>,
) -> Result<usize, WorkerError> {
    if let Some(program) = program {
        return Ok(program);
    }
    let Some((name, value)) = VARIABLES.iter().find_map(|name| Some((*name, variable(name)?)))
    else {
        return Ok(DEFAULT);
    };
    match value.trim().parse() {
        Ok(number) if number > 0 => Ok(number),
        _ => Err(WorkerError::Variable { name, value }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_program_counts_and_then_the_first_variable() {
        let set = |names: &'static [&str]| {
            move |name: &str| {
                names.iter().position(|set| *set == name).map(|at| (at + 3).to_string())
            }
        };
        let [first, second] = VARIABLES;
        assert_eq!(find(Some(5), set(&VARIABLES)).unwrap(), 5);
        assert_eq!(find(None, set(&VARIABLES)).unwrap(), 3);
        assert_eq!(find(None, |name| (name == second).then(|| " 7 ".into())).unwrap(), 7);
        assert_eq!(find(None, |_| None).unwrap(), DEFAULT);
        for wrong in ["", "0", "-1", "lots", "1.5"] {
            let error = find(None, |name| (name == first).then(|| wrong.into())).unwrap_err();
            let text = error.to_string();
            assert!(text.starts_with(&format!("{first} is `{wrong}`")), "{text}");
        }
    }
}
