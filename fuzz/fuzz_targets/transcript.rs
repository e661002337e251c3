#![no_main]

#[allow(dead_code, reason = "each target calls one property")]
#[path = "../../tests/it/properties.rs"]
mod properties;

libfuzzer_sys::fuzz_target!(|data: &[u8]| properties::transcript(data));
