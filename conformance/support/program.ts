import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

/**
 * The program of the repository, or the compiled one that `npm test` has built: it is started hundreds of times
 * (decision 0075).
 */
export const TRIVIUM =
  process.env["TRIVIUM_TEST_PROGRAM"] ?? join(new URL("../..", import.meta.url).pathname, "bin/trivium");

export interface Finished {
  code: number;
  stdout: string;
  stderr: string;
}

interface ProgramOptions {
  cwd: string;
  /** The whole environment except with `bareEnvironment`. */
  env?: Record<string, string>;
}

/** What `npm test` sets for the runtime also applies to the programs its tests start. */
const RUNTIME_OPTIONS = ["BUN_JSC_useFTLJIT", "MIMALLOC_PURGE_HOLES_MIN_INTERVAL"];

/** The environment of a new user, without any of Trivium's variables. */
export function bareEnvironment(more: Readonly<Record<string, string>> = {}): Record<string, string> {
  const set = RUNTIME_OPTIONS.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]]));
  return { PATH: process.env["PATH"] ?? "", ...Object.fromEntries(set), ...more };
}

/** Runs the program to its end, with `stdin` as its piped input. */
export async function runProgram(
  args: readonly string[],
  { cwd, env, stdin = "" }: ProgramOptions & { stdin?: string },
): Promise<Finished> {
  const child = Bun.spawn([TRIVIUM, ...args], {
    cwd,
    env: bareEnvironment(env),
    stdin: new Blob([stdin]),
    stdout: "pipe",
    stderr: "pipe",
    timeout: 60_000,
    killSignal: "SIGKILL",
  });
  const [stdout, stderr] = await Promise.all([child.stdout.text(), child.stderr.text()]);
  return { code: await child.exited, stdout, stderr };
}

/** Where a program that was started with port 0 listens. It says so when it accepts calls. */
export async function listeningAt(stdout: ReadableStream<Uint8Array>): Promise<{ url: string; adminUrl: string }> {
  // It is not cancelled: the program would notice that nobody reads what it says later.
  const reader = stdout.getReader();
  const decoder = new TextDecoder();
  for (let said = ""; ; ) {
    const { done, value } = await reader.read();
    if (done) throw new Error(`the program ended before it listened: ${said}`);
    said += decoder.decode(value, { stream: true });
    const [, url] = /is listening on (\S+)/.exec(said) ?? [];
    const [, adminUrl] = /Admin API +(\S+)\n/.exec(said) ?? [];
    if (url !== undefined && adminUrl !== undefined) return { url, adminUrl };
  }
}

/** The program before a person: everything that it shows on a terminal, and keys that are pressed. */
export class ProgramOnTerminal {
  shown = "";
  readonly #child: Bun.Subprocess;
  readonly #decoder = new TextDecoder();
  #changed = Promise.withResolvers<void>();

  constructor(args: readonly string[], { cwd, env }: ProgramOptions) {
    this.#child = Bun.spawn([TRIVIUM, ...args], {
      cwd,
      env: bareEnvironment({ TERM: "xterm-256color", ...env }),
      terminal: {
        cols: 200,
        rows: 50,
        data: (_terminal, data) => {
          this.shown += this.#decoder.decode(data, { stream: true });
          this.#changed.resolve();
          this.#changed = Promise.withResolvers();
        },
      },
    });
  }

  /** Waits for new output, and returns it. */
  async sees(pattern: RegExp, from = 0): Promise<RegExpExecArray> {
    for (const until = Date.now() + 120_000; ; ) {
      const found = pattern.exec(Bun.stripANSI(this.shown.slice(from)));
      if (found) return found;
      const left = until - Date.now();
      if (left <= 0 || this.#child.exitCode !== null) {
        throw new Error(`${pattern} was not shown. Shown was:\n${this.shown.slice(from)}`);
      }
      await Promise.race([this.#changed.promise, Bun.sleep(Math.min(left, 200))]);
    }
  }

  type(keys: string): void {
    this.#child.terminal?.write(keys);
  }

  /** Types, then waits for the resulting output. */
  async answer(keys: string, pattern: RegExp): Promise<RegExpExecArray> {
    const from = this.shown.length;
    this.type(keys);
    return this.sees(pattern, from);
  }

  async ended(): Promise<number> {
    return this.#child.exited;
  }

  kill(): void {
    this.#child.kill("SIGKILL");
  }
}

/** The processes that a process has started and that have not ended. */
export function childrenOf(pid: number): number[] {
  return readdirSync("/proc")
    .map(Number)
    .filter((one) => one > 0 && parentOf(one) === pid);
}

/** Undefined for a process that has ended, read or not. */
function parentOf(pid: number): number | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "latin1");
    const [state, parent] = text.slice(text.lastIndexOf(")") + 2).split(" ");
    return state === "Z" ? undefined : Number(parent);
  } catch {
    return undefined;
  }
}

export const isAlive = (pid: number): boolean => parentOf(pid) !== undefined;
