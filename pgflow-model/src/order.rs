//! Order of the steps.

/// Nodes that wait for each other: each depends on the next, and the last on the first.
///
/// ```
/// use pgflow_model::{Cycle, topological_order};
///
/// let (_, cycles) = topological_order(&[vec![1], vec![0], vec![0]]);
/// assert_eq!(cycles, [Cycle { path: vec![0, 1] }]);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cycle {
    /// The nodes, once each.
    pub path: Vec<usize>,
}

/// Orders nodes so that each comes after its dependencies, keeping the given order otherwise.
///
/// `deps[n]` lists what node `n` depends on. Every node is in the result even when there are
/// cycles. Takes time in proportion to nodes and edges.
///
/// ```
/// let (order, cycles) = pgflow_model::topological_order(&[vec![1], vec![]]);
/// assert_eq!(order, [1, 0]);
/// assert!(cycles.is_empty());
/// ```
pub fn topological_order(deps: &[Vec<usize>]) -> (Vec<usize>, Vec<Cycle>) {
    let mut walk = Walk { marks: vec![Mark::New; deps.len()], ..Walk::default() };
    for node in 0..deps.len() {
        walk.visit(node, deps);
    }
    (walk.sorted, walk.cycles)
}

#[derive(Clone, Copy, PartialEq)]
enum Mark {
    New,
    Open,
    Done,
}

#[derive(Default)]
struct Walk {
    marks: Vec<Mark>,
    /// Open nodes, each with how many of its dependencies were looked at.
    path: Vec<(usize, usize)>,
    sorted: Vec<usize>,
    cycles: Vec<Cycle>,
}

impl Walk {
    /// Visits a node and what it depends on, without recursion: a chain may be long.
    fn visit(&mut self, node: usize, deps: &[Vec<usize>]) {
        self.open(node);
        while let Some((node, seen)) = self.path.last_mut() {
            let next = deps[*node].get(*seen).copied();
            *seen += 1;
            match next {
                Some(dep) => self.open(dep),
                None => self.close(),
            }
        }
    }

    fn open(&mut self, node: usize) {
        match self.marks[node] {
            Mark::New => {
                self.marks[node] = Mark::Open;
                self.path.push((node, 0));
            }
            Mark::Open => {
                let ring = self.path.iter().map(|(open, _)| *open).skip_while(|open| *open != node);
                self.cycles.push(Cycle { path: ring.collect() });
            }
            Mark::Done => {}
        }
    }

    fn close(&mut self) {
        if let Some((node, _)) = self.path.pop() {
            self.marks[node] = Mark::Done;
            self.sorted.push(node);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_dependencies_first() {
        let (sorted, cycles) = topological_order(&[vec![1, 2], vec![], vec![1]]);
        assert_eq!(sorted, [1, 2, 0]);
        assert!(cycles.is_empty());
    }

    #[test]
    fn keeps_the_given_order_where_it_can() {
        let (sorted, _) = topological_order(&[vec![], vec![0], vec![], vec![2, 1]]);
        assert_eq!(sorted, [0, 1, 2, 3]);
    }

    #[test]
    fn reports_a_cycle_once_and_keeps_every_node() {
        let (sorted, cycles) = topological_order(&[vec![1], vec![2], vec![0], vec![]]);
        assert_eq!(sorted.len(), 4);
        assert_eq!(cycles, [Cycle { path: vec![0, 1, 2] }]);
    }

    #[test]
    fn a_long_chain_needs_no_stack() {
        let deps: Vec<_> =
            (0..200_000).map(|n| if n + 1 < 200_000 { vec![n + 1] } else { vec![] }).collect();
        assert_eq!(topological_order(&deps).0[0], 199_999);
    }
}
