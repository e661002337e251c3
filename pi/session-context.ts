// session-monitor: the Pi extension.
//
// Before each run that a prompt starts, session-context tells the agent what happened in its other sessions, as a
// `session-update` message. Whatever goes wrong, the prompt goes on without it. After `session-context install --live pi`
// it also notes when the agent begins and ends to work; nobody waits for that.
//
// The program: $SESSION_CONTEXT_BIN, else the one that `session-context install pi` put in here, else the one on PATH.
import { spawn } from "node:child_process";

const INSTALLED = "";
const LIVE = false;
const TIMEOUT_MS = 2000;

/** What the program says; "" if it fails or takes too long, and undefined if there is no such program. */
function answer(program: string, args: string[], input: string, cwd: string | undefined): Promise<string | undefined> {
  return new Promise((resolve) => {
    const chunks: any[] = [];
    let timer: any;
    const done = (said: string | undefined) => {
      clearTimeout(timer);
      resolve(said);
    };
    const child = spawn(program, [...args, "--agent", "pi"], { cwd, stdio: ["pipe", "pipe", "ignore"] });
    timer = setTimeout(() => {
      child.kill("SIGKILL");
      // Something that it started may hold the pipe open.
      child.stdout.destroy();
      done("");
    }, TIMEOUT_MS);
    child.on("error", (error: any) => done(error?.code === "ENOENT" ? undefined : ""));
    child.on("close", (code: any) => done(code === 0 ? Buffer.concat(chunks).toString("utf8") : ""));
    child.stdout.on("data", (chunk: any) => chunks.push(chunk));
    child.stdout.on("error", () => {});
    // It need not read all of a long prompt.
    child.stdin.on("error", () => {});
    child.stdin.end(input);
  });
}

/** What the first program that is there says about an event; "" if there is none. */
async function ask(args: string[], event: string, prompt: string | undefined, ctx: any): Promise<string> {
  const sessions = ctx?.sessionManager;
  const input = JSON.stringify({
    hook_event_name: event,
    session_id: sessions?.getSessionId?.() ?? "",
    session_name: sessions?.getSessionName?.() ?? "",
    transcript_path: sessions?.getSessionFile?.() ?? "",
    session_dir: sessions?.getSessionDir?.() ?? "",
    cwd: ctx?.cwd ?? process.cwd(),
    prompt,
  });
  for (const program of [process.env.SESSION_CONTEXT_BIN, INSTALLED, "session-context"]) {
    const said = program ? await answer(program, args, input, ctx?.cwd) : undefined;
    if (said !== undefined) return said;
  }
  return "";
}

/** Events of Pi, and what they are called in what we note. */
const NOTED = {
  session_start: "SessionStart",
  agent_start: "AgentStart",
  agent_end: "AgentEnd",
  agent_settled: "AgentEnd",
  session_shutdown: "SessionEnd",
};

export default function (pi: any) {
  pi.on("before_agent_start", async (event: any, ctx: any) => {
    try {
      const prompt = event?.prompt;
      if (event?.messageType === "custom" || typeof prompt !== "string" || prompt.trim() === "") return undefined;
      const said = await ask([], "UserPromptSubmit", prompt, ctx);
      const reply = said.trim() === "" ? undefined : JSON.parse(said);
      const message = reply?.message;
      return typeof message?.customType === "string" && typeof message?.content === "string" ? { message } : undefined;
    } catch {
      // No news is no reason to stop a prompt; `session-context doctor` tells why there was none.
    }
    return undefined;
  });
  if (!LIVE) return;
  for (const [event, called] of Object.entries(NOTED)) {
    pi.on(event, (_: any, ctx: any) => {
      ask(["live"], called, undefined, ctx).catch(() => {});
    });
  }
}
