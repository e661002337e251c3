//! `cargo faults`: every system call of the programs fails once, fails from then on, and is the last one.
//!
//!     cargo faults                  the whole matrix; exit 1 if a fault did harm
//!     cargo faults list pin         only the scenarios with one of these words in their names
//!     cargo faults --step 7         only every seventh call
//!     cargo faults --short          one call of each class and what did harm before, as in `cargo test`

#![allow(clippy::disallowed_methods, clippy::string_slice)] // A program of its own, which has no `Env`.

#[cfg(target_os = "linux")]
#[path = "mod.rs"]
mod faults;
#[cfg(target_os = "linux")]
#[path = "../scene/mod.rs"]
mod scene;

#[cfg(target_os = "linux")]
fn main() -> std::process::ExitCode {
    let mut choice = faults::Choice::Every(1);
    let mut words = Vec::new();
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        match arg.as_str() {
            "--bench" => {}
            "--short" => choice = faults::Choice::OnePerClass,
            "--step" => {
                let step = args
                    .next()
                    .and_then(|step| step.parse().ok())
                    .expect("--step needs a number");
                choice = faults::Choice::Every(step);
            }
            _ => words.push(arg),
        }
    }
    println!("{}", faults::Row::head());
    let mut failures = Vec::new();
    for scenario in faults::SCENARIOS {
        if words.is_empty() || words.iter().any(|word| scenario.name.contains(word)) {
            let row = faults::matrix(scenario, choice);
            println!("{}", row.lines(scenario.name));
            failures.extend(row.failures);
        }
    }
    for failure in &failures {
        println!("\n{failure}");
    }
    println!("\n{} faults did harm", failures.len());
    std::process::ExitCode::from(u8::from(!failures.is_empty()))
}

#[cfg(not(target_os = "linux"))]
fn main() {
    println!("system calls can be made to fail on Linux only");
}
