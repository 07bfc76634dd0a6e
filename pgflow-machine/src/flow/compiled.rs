//! Which versions of a flow a program can start.

/// What a program that starts a run was compiled for.
///
/// A run stays with the version that it started with. So a start must not reach one that takes another input than
/// the program gives, or puts out something that the program can't read: an old program would go on starting runs that
/// can only fail.
///
/// ```
/// use pgflow_machine::CompiledFor;
///
/// let program = CompiledFor { versions: vec![3, 2], interface: Some("a".into()) };
/// assert!(program.fits(3, None) && program.fits(2, None));
/// assert!(program.fits(4, Some("a")), "newer, and the same from outside");
/// assert!(!program.fits(4, Some("b")) && !program.fits(4, None));
/// assert!(!program.fits(1, Some("a")), "older than all that the program has code for");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompiledFor {
    /// Versions that its code is for: its own, then earlier ones whose runs it can finish.
    pub versions: Vec<u32>,
    /// What its own version takes and puts out, as a hash, if it is known.
    pub interface: Option<String>,
}

impl CompiledFor {
    /// Whether it can start runs of the version of this number, which takes and puts out what this hash says.
    pub fn fits(&self, number: u32, interface: Option<&str>) -> bool {
        let is_newer = self.versions.iter().all(|known| *known < number);
        let is_alike = interface.is_some() && interface == self.interface.as_deref();
        self.versions.contains(&number) || (is_newer && is_alike)
    }

    /// Its own version.
    pub fn own(&self) -> Option<u32> {
        self.versions.first().copied()
    }
}
