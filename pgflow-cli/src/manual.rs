//! `docs/cli.md`, from the definitions of the commands.

use std::fmt::Write as _;

use clap::{Arg, Command};

/// What is said before and after the commands.
const BEFORE: &str = include_str!("manual/before.md");
const AFTER: &str = include_str!("manual/after.md");

/// The manual of all commands, as Markdown.
pub fn manual() -> String {
    let mut text = BEFORE.to_owned();
    let command = crate::command();
    for command in command.get_subcommands() {
        section(&mut text, command, "pgflow");
    }
    text + AFTER
}

/// A command, and those that it consists of.
fn section(text: &mut String, command: &Command, above: &str) {
    let name = format!("{above} {}", command.get_name());
    let about = command.get_about().map(ToString::to_string).unwrap_or_default();
    let _ = writeln!(text, "### `{name}`\n\n{about}\n");
    let arguments: Vec<_> =
        command.get_arguments().filter(|argument| !argument.is_hide_set()).collect();
    if !arguments.is_empty() {
        text.push_str("| argument | |\n|---|---|\n");
        for argument in arguments {
            let _ = writeln!(text, "| `{}` | {} |", label(argument), help(argument));
        }
        text.push('\n');
    }
    if let Some(after) = command.get_after_help() {
        let _ = writeln!(text, "```text\n{}\n```\n", after.to_string().trim_end());
    }
    for command in command.get_subcommands() {
        section(text, command, &name);
    }
}

fn label(argument: &Arg) -> String {
    let value = argument.get_value_names().and_then(|names| names.first()).map(ToString::to_string);
    let takes_value = argument.get_action().takes_values();
    let value = value.filter(|_| takes_value);
    match (argument.get_long(), value) {
        (Some(long), Some(value)) => format!("--{long} <{value}>"),
        (Some(long), None) => format!("--{long}"),
        (None, value) => {
            let value = value.unwrap_or_else(|| argument.get_id().to_string().to_uppercase());
            if argument.is_required_set() { value } else { format!("[{value}]") }
        }
    }
    .replace('|', "\\|")
}

fn help(argument: &Arg) -> String {
    let mut help = argument.get_help().map(ToString::to_string).unwrap_or_default();
    let defaults: Vec<_> =
        argument.get_default_values().iter().map(|value| value.to_string_lossy()).collect();
    if argument.get_action().takes_values() && !defaults.is_empty() {
        let _ = write!(help, " [default: {}]", defaults.join(", "));
    }
    let choices = argument.get_possible_values();
    let names: Vec<_> = choices.iter().map(|choice| format!("`{}`", choice.get_name())).collect();
    if argument.get_action().takes_values() && !names.is_empty() {
        let _ = write!(help, " ({})", names.join(", "));
    }
    help.replace('|', "\\|")
}
