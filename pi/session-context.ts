// session-monitor: the Pi extension.
//
// Before each run that a prompt starts, session-context tells the agent what happened in its other sessions, as a
// `session-update` message. Whatever goes wrong, the prompt goes on without it.
//
// The program: $SESSION_CONTEXT_BIN, else the one that `session-context install pi` put in here, else the one on PATH.
import { spawn } from "node:child_process";

const INSTALLED = "";
const TIMEOUT_MS = 2000;

/** What the program says; "" if it fails or takes too long, and undefined if there is no such program. */
function answer(program: string, input: string, cwd: string | undefined): Promise<string | undefined> {
  return new Promise((resolve) => {
    const chunks: any[] = [];
    let timer: any;
    const done = (said: string | undefined) => {
      clearTimeout(timer);
      resolve(said);
    };
    const child = spawn(program, ["--agent", "pi"], { cwd, stdio: ["pipe", "pipe", "ignore"] });
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

export default function (pi: any) {
  pi.on("before_agent_start", async (event: any, ctx: any) => {
    try {
      const prompt = event?.prompt;
      if (event?.messageType === "custom" || typeof prompt !== "string" || prompt.trim() === "") return undefined;
      const sessions = ctx?.sessionManager;
      const input = JSON.stringify({
        hook_event_name: "UserPromptSubmit",
        session_id: sessions?.getSessionId?.() ?? "",
        session_name: sessions?.getSessionName?.() ?? "",
        transcript_path: sessions?.getSessionFile?.() ?? "",
        session_dir: sessions?.getSessionDir?.() ?? "",
        cwd: ctx?.cwd ?? process.cwd(),
        prompt,
      });
      for (const program of [process.env.SESSION_CONTEXT_BIN, INSTALLED, "session-context"]) {
        if (!program) continue;
        const said = await answer(program, input, ctx?.cwd);
        if (said === undefined) continue;
        const reply = said.trim() === "" ? undefined : JSON.parse(said);
        const message = reply?.message;
        return typeof message?.customType === "string" && typeof message?.content === "string" ? { message } : undefined;
      }
    } catch {
      // No news is no reason to stop a prompt; `session-context doctor` tells why there was none.
    }
    return undefined;
  });
}
