//! A crate with flows that is edited at random, and always compiles when an edit is finished.

use std::fmt::Write as _;

use super::typing::Random;

const TYPES: [&str; 4] = ["u32", "String", "Vec<u32>", "Note"];

/// A step, which depends on earlier ones.
#[derive(Clone)]
struct Step {
    id: u32,
    name: String,
    /// Its name in the last commit, if it had another one there.
    was: Option<String>,
    depends_on: Vec<u32>,
    ty: usize,
    timeout: Option<u64>,
}

/// What the flows of the crate are.
pub(crate) struct App {
    steps: Vec<Step>,
    attempts: Option<u64>,
    has_second: bool,
    next: u32,
    /// Names of the steps in the last commit, by id.
    committed: Vec<(u32, String)>,
}

impl Default for App {
    fn default() -> Self {
        let mut app = Self {
            steps: Vec::new(),
            attempts: None,
            has_second: false,
            next: 1,
            committed: Vec::new(),
        };
        app.add(&mut Random(1));
        app
    }
}

impl App {
    /// Changes one thing.
    pub(crate) fn edit(&mut self, random: &mut Random) {
        let before = self.source();
        while self.source() == before {
            match random.below(9) {
                0 | 1 => self.add(random),
                2 => self.remove(random),
                3 | 4 => self.rename(random),
                5 => self.any(random).timeout = Some(1 + random.below(99)),
                6 => self.any(random).ty = random.index(TYPES.len()),
                7 => self.attempts = (random.below(2) == 0).then(|| 1 + random.below(9)),
                _ => self.has_second = !self.has_second,
            }
        }
    }

    /// Everything is committed as it is.
    pub(crate) fn commit(&mut self) {
        self.committed = self.steps.iter().map(|step| (step.id, step.name.clone())).collect();
        for step in &mut self.steps {
            step.was = None;
        }
    }

    fn any(&mut self, random: &mut Random) -> &mut Step {
        let at = random.index(self.steps.len());
        &mut self.steps[at]
    }

    fn add(&mut self, random: &mut Random) {
        let id = self.next;
        self.next += 1;
        let depends_on =
            self.steps.iter().map(|step| step.id).filter(|_| random.below(3) == 0).collect();
        let ty = random.index(TYPES.len());
        let name = format!("step_{id}");
        self.steps.push(Step { id, name, was: None, depends_on, ty, timeout: None });
    }

    fn remove(&mut self, random: &mut Random) {
        let id = self.any(random).id;
        let is_needed = self.steps.iter().any(|step| step.depends_on.contains(&id));
        if !is_needed && self.steps.len() > 1 {
            self.steps.retain(|step| step.id != id);
        }
    }

    /// With `was`, where there is a committed name that it can refer to.
    fn rename(&mut self, random: &mut Random) {
        let (id, number) = (self.any(random).id, self.next);
        self.next += 1;
        let committed = self.committed.iter().find(|(known, _)| *known == id);
        let was = committed.map(|(_, name)| name.clone()).filter(|_| random.below(2) == 0);
        if let Some(step) = self.steps.iter_mut().find(|step| step.id == id) {
            (step.name, step.was) = (format!("renamed_{number}"), was);
        }
    }

    /// The whole file.
    pub(crate) fn source(&self) -> String {
        let attempts = self.attempts.map(|n| format!(", max_attempts = {n}")).unwrap_or_default();
        let mut text = format!(
            "//! An app.\n\nuse pgflow::prelude::*;\n\n#[data]\n#[derive(Default)]\npub struct Note {{\n    pub text: String,\n}}\n\n\
             #[flow(input = Note{attempts})]\npub mod orders {{\n    use super::*;\n"
        );
        for step in &self.steps {
            self.push_step(&mut text, step);
        }
        text += "}\n";
        if self.has_second {
            text += "\n#[flow]\npub mod mail {\n    use super::*;\n\n    #[step]\n    pub async fn send() -> Result<u8> {\n        Ok(1)\n    }\n}\n";
        }
        text + "\npub const MIGRATIONS: pgflow::definition::FlowMigrations = pgflow::migrations!();\n"
    }

    fn push_step(&self, text: &mut String, step: &Step) {
        let deps: Vec<_> =
            self.steps.iter().filter(|other| step.depends_on.contains(&other.id)).collect();
        let names: Vec<_> = deps.iter().map(|dep| &*dep.name).collect();
        let mut options = Vec::new();
        if !names.is_empty() {
            options.push(format!("depends_on = [{}]", names.join(", ")));
        }
        options.extend(step.timeout.map(|timeout| format!("timeout = {timeout}")));
        options.extend(step.was.as_ref().map(|was| format!("was = {was:?}")));
        let options =
            if options.is_empty() { String::new() } else { format!("({})", options.join(", ")) };
        let params: Vec<_> =
            deps.iter().map(|dep| format!("{}: {}", dep.name, TYPES[dep.ty])).collect();
        let used: String = names.iter().fold(String::new(), |mut used, name| {
            let _ = writeln!(used, "        let _ = {name};");
            used
        });
        let _ = write!(
            text,
            "\n    #[step{options}]\n    pub async fn {}({}) -> Result<{}> {{\n{used}        Ok(Default::default())\n    }}\n",
            step.name,
            params.join(", "),
            TYPES[step.ty],
        );
    }
}
