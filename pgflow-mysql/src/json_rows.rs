//! Many rows as one parameter, so that a statement's text does not depend on how many there are.
//!
//! Rows are objects in an array, which `JSON_TABLE` takes apart; a field that is left out is null. Payloads are texts in them, so
//! that no server looks into a payload.
//!
//! Tables are joined to them with `force index (primary)`: a server that takes a small table for cheaper to read as a whole would wait
//! for locks on rows that nobody asked for. Texts have `character set utf8mb4`, or they were of the database's own, which may have
//! no place for half of them.

use pgflow_machine::RunId;
use serde::Serialize;

use crate::error::{Result, broken};

/// Rows as a parameter.
pub(crate) fn json_rows<T: Serialize>(rows: &[T]) -> Result<String> {
    serde_json::to_string(rows).map_err(broken)
}

/// A run's id, as rows have it: 32 digits, for `unhex`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hex(pub(crate) RunId);

impl Serialize for Hex {
    fn serialize<S: serde::Serializer>(
        &self,
        serializer: S,
    ) -> std::result::Result<S::Ok, S::Error> {
        serializer.serialize_str(self.0.0.simple().encode_lower(&mut [0; 32]))
    }
}

/// A step of a run, as a row.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct StepRow {
    pub(crate) run: Hex,
    pub(crate) step: usize,
}

/// Rows as parameters that a packet has room for: each has one row at least.
pub(crate) fn json_parts<T: Serialize>(rows: &[T], most: usize) -> Result<Vec<String>> {
    let mut parts: Vec<String> = Vec::new();
    for row in rows {
        let row = json_rows(std::slice::from_ref(row))?;
        match parts.last_mut().filter(|part| part.len() + row.len() <= most) {
            None => parts.push(row),
            // One array out of two.
            Some(part) => {
                part.truncate(part.len() - 1);
                part.push(',');
                part.push_str(&row[1..]);
            }
        }
    }
    Ok(parts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_no_larger_than_they_may_be() {
        let cut = |rows: &[&str]| json_parts(rows, 16).unwrap();
        assert_eq!(cut(&["one", "two", "three"]), [r#"["one","two"]"#, r#"["three"]"#]);
        assert_eq!(cut(&["\"\"\"", "two"]), [r#"["\"\"\""]"#, r#"["two"]"#], "as they are sent");
        assert_eq!(
            cut(&["longer than all of it", "1"]),
            [r#"["longer than all of it"]"#, r#"["1"]"#]
        );
        assert_eq!(cut(&[]), [""; 0]);
    }

    #[test]
    fn what_is_left_out_is_not_written() {
        let run = RunId::from_key("a", "b");
        let text = json_rows(&[StepRow { run: Hex(run), step: 3 }]).unwrap();
        assert_eq!(text, format!("[{{\"run\":\"{}\",\"step\":3}}]", run.0.simple()));
    }
}
