//! Cuts a snapshot into the errors it holds.

/// One error or warning, with everything that belongs to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    lines: Vec<String>,
}

impl Report {
    /// The line that states the problem.
    pub fn headline(&self) -> &str {
        &self.lines[0]
    }

    /// Lines a reader sees.
    pub fn length(&self) -> usize {
        self.lines.len()
    }

    /// Everything, as shown.
    pub fn text(&self) -> String {
        self.lines.join("\n")
    }
}

/// The errors and warnings of one snapshot, in order.
///
/// ```
/// use pgflow_ui_tests::reports;
///
/// let found = reports("error: one\n --> a.rs\n\nerror[E0277]: two\n");
/// assert_eq!(found.len(), 2);
/// assert_eq!(found[0].length(), 2);
/// assert_eq!(found[1].headline(), "error[E0277]: two");
/// ```
pub fn reports(snapshot: &str) -> Vec<Report> {
    let mut reports: Vec<Report> = Vec::new();
    for line in snapshot.lines().filter(|line| !line.trim().is_empty()) {
        if starts_a_report(line) || reports.is_empty() {
            reports.push(Report { lines: Vec::new() });
        }
        if let Some(report) = reports.last_mut() {
            report.lines.push(line.to_owned());
        }
    }
    reports
}

fn starts_a_report(line: &str) -> bool {
    ["error:", "error[", "warning:", "warning["].iter().any(|start| line.starts_with(start))
}
