#!/usr/bin/env node
// Runs the program of this name from the package for this platform. Where npm has not installed that (--omit=optional, or a
// platform without one), the next program of that name on the PATH does.
"use strict";
const { spawnSync } = require("node:child_process");
const { accessSync, constants, realpathSync } = require("node:fs");
const path = require("node:path");

const name = path.basename(__filename, ".js");
const platform = `${process.platform}-${process.arch}`;

function elsewhere() {
  const own = (file) => realpathSync(file) === realpathSync(__filename);
  for (const dir of (process.env.PATH || "").split(path.delimiter)) {
    const file = path.join(dir, name);
    try {
      accessSync(file, constants.X_OK);
      if (!own(file)) return file;
    } catch {
      // Not there.
    }
  }
}

let program;
try {
  program = require.resolve(`@session-monitor/${platform}/bin/${name}`);
} catch {
  program = elsewhere();
}
if (!program) {
  console.error(
    `${name}: @session-monitor/${platform} is not installed, and there is no other ${name} on the PATH. ` +
      "Install it without --omit=optional; on another platform, build it with cargo: see docs/install.md.",
  );
  process.exit(2);
}
const done = spawnSync(program, process.argv.slice(2), { stdio: "inherit" });
if (done.error) {
  console.error(`${name}: ${program}: ${done.error.message}`);
  process.exit(2);
}
// Ended by a signal, as the program was.
if (done.signal) process.kill(process.pid, done.signal);
else process.exit(done.status);
