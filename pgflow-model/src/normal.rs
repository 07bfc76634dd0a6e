//! One order for one graph, however its source is arranged.

use std::collections::{BTreeMap, BTreeSet};

use crate::{FlowShape, StepShape};

impl FlowShape {
    /// The same graph in the order that migrations create it: each step after its dependencies, by
    /// name where that leaves a choice, and dependencies sorted.
    ///
    /// Functions and lists can then be rearranged in the source without changing anything.
    ///
    /// ```
    /// use pgflow_model::{FlowShape, StepShape};
    ///
    /// let mut flow = FlowShape::new("orders");
    /// flow.steps = vec![StepShape::new("ship").after("pay"), StepShape::new("pay")];
    /// let order: Vec<_> = flow.normalized().steps.into_iter().map(|step| step.slug).collect();
    /// assert_eq!(order, ["pay", "ship"]);
    /// ```
    #[must_use]
    pub fn normalized(&self) -> Self {
        let mut waiting: BTreeMap<&str, usize> = BTreeMap::new();
        let mut dependents: BTreeMap<&str, Vec<&StepShape>> = BTreeMap::new();
        for step in &self.steps {
            waiting.insert(&step.slug, step.depends_on.len());
            for dep in &step.depends_on {
                dependents.entry(dep).or_default().push(step);
            }
        }
        let is_root = |step: &&StepShape| step.depends_on.is_empty();
        let mut ready: BTreeSet<&str> =
            self.steps.iter().filter(is_root).map(|step| &*step.slug).collect();
        let mut order = Vec::with_capacity(self.steps.len());
        while let Some(slug) = ready.pop_first() {
            order.push(slug);
            for step in dependents.get(slug).into_iter().flatten() {
                let open = waiting.entry(&step.slug).or_default();
                *open -= 1;
                if *open == 0 {
                    ready.insert(&step.slug);
                }
            }
        }
        let steps = order.iter().filter_map(|slug| self.step(slug)).map(sorted).collect();
        Self { steps, ..self.clone() }
    }

    /// The step of this slug.
    ///
    /// ```
    /// use pgflow_model::{FlowShape, StepShape};
    ///
    /// let mut flow = FlowShape::new("orders");
    /// flow.steps.push(StepShape::new("pay"));
    /// assert!(flow.step("pay").is_some() && flow.step("ship").is_none());
    /// ```
    pub fn step(&self, slug: &str) -> Option<&StepShape> {
        self.steps.iter().find(|step| step.slug == slug)
    }
}

fn sorted(step: &StepShape) -> StepShape {
    let mut step = step.clone();
    step.depends_on.sort();
    step
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_graph_has_one_order() {
        let steps = [
            StepShape::new("b").after("a"),
            StepShape::new("c"),
            StepShape::new("a"),
            StepShape::new("d").after("c").after("b"),
        ];
        let mut flow = FlowShape::new("f");
        flow.steps = steps.to_vec();
        let mut turned = flow.clone();
        turned.steps.reverse();
        turned.steps[0].depends_on.reverse();
        let normal = flow.normalized();
        assert_eq!(normal, turned.normalized());
        assert_eq!(normal, normal.normalized());
        assert_eq!(normal.steps[3].depends_on, ["b", "c"]);
    }
}
