//! `cargo soak`: chance writes sessions and looks at them, a model knows what must be told.
//!
//!     cargo soak                    a minute
//!     cargo soak --minutes 10
//!     cargo soak --seed 17          one run, and the shortest list of actions that breaks it
//!     cargo soak --from 1000        other seeds
//!     cargo soak --without Clock    leave out a kind of action, to see what else there is

#![allow(clippy::disallowed_methods, clippy::string_slice)] // A program of its own, which has no `Env`.

#[path = "../scene/mod.rs"]
mod scene;
#[path = "mod.rs"]
mod soak;

use std::time::{Duration, Instant};

fn main() -> std::process::ExitCode {
    const ACTIONS: usize = 120;
    /// More than these say nothing new.
    const FAILURES: usize = 8;
    let mut args = std::env::args().skip(1);
    let (mut minutes, mut seed, mut first) = (1.0, None, 0);
    let mut without = Vec::new();
    while let Some(arg) = args.next() {
        let mut number = || {
            args.next()
                .and_then(|number| number.parse::<f64>().ok())
                .expect("a number")
        };
        match arg.as_str() {
            "--minutes" => minutes = number(),
            "--seed" => seed = Some(number() as u64),
            "--from" => first = number() as u64,
            "--without" => without.extend(args.next()),
            "--bench" => {}
            other => panic!("unknown argument {other}"),
        }
    }
    let mut report = soak::Report::default();
    let end = Instant::now() + Duration::from_secs_f64(60.0 * minutes);
    let seeds = seed.map_or(first..u64::MAX, |seed| seed..seed + 1);
    for seed in seeds {
        soak::soak(
            seed,
            ACTIONS,
            &without,
            Duration::from_secs(20),
            &mut report,
        );
        if Instant::now() >= end || report.failures.len() >= FAILURES {
            break;
        }
    }
    println!("{report}");
    std::process::ExitCode::from(u8::from(!report.failures.is_empty()))
}
