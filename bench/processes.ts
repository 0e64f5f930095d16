import { childrenOf, cpuSeconds } from "./proc.ts";

const START_TIMEOUT_MS = 15_000;
const STOP_TIMEOUT_MS = 3_000;
const KEPT_CHARACTERS = 4_000;

export interface Child {
  readonly url: string;
  /** Headers that every call to it must send. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The process and those that it started, such as nginx's worker. */
  readonly pids: readonly number[];
  stop(): Promise<void>;
}

interface ChildOptions {
  name: string;
  command: string[];
  environment?: Readonly<Record<string, string>>;
  startTimeoutMs?: number;
  /** The URL of the child from its output; undefined until it is printed. */
  findUrl: (output: string) => string | undefined | Promise<string | undefined>;
}

/** Every program of the benchmark prints `{ "url": … }` when it is ready. */
export function printedUrl(output: string): string | undefined {
  return /"url":\s*"([^"]+)"/.exec(output)?.[1];
}

/** The child processes of one run; none outlives it. */
export class Processes {
  readonly #running = new Map<Bun.Subprocess, readonly number[]>();
  #endedCpuSeconds = 0;

  async start(options: ChildOptions): Promise<Child> {
    const { command, environment } = options;
    const subprocess = Bun.spawn(command, {
      stdin: "ignore",
      stdout: "pipe",
      stderr: "pipe",
      env: { ...process.env, BUN_CONFIG_MAX_HTTP_REQUESTS: "65535", ...environment },
    });
    this.#running.set(subprocess, [subprocess.pid]);
    const output = { text: "" };
    void collect(subprocess.stdout, output);
    void collect(subprocess.stderr, output);
    const url = await this.#ready(subprocess, output, options);
    const pids = [subprocess.pid, ...childrenOf(subprocess.pid)];
    this.#running.set(subprocess, pids);
    return { url, pids, stop: () => this.#stop(subprocess) };
  }

  async stopAll(): Promise<void> {
    await Promise.all([...this.#running.keys()].map((subprocess) => this.#stop(subprocess)));
  }

  /** The CPU time of the whole run so far, including ended children and this process. */
  cpuSeconds(): number {
    const running = [...this.#running].filter(([subprocess]) => subprocess.exitCode === null);
    return this.#endedCpuSeconds + cpuSeconds([process.pid, ...running.flatMap(([, pids]) => pids)]);
  }

  async #ready(
    subprocess: Bun.Subprocess,
    output: { text: string },
    { name, findUrl, startTimeoutMs = START_TIMEOUT_MS }: ChildOptions,
  ): Promise<string> {
    const deadline = performance.now() + startTimeoutMs;
    for (;;) {
      const url = await findUrl(output.text);
      if (url !== undefined) return url;
      if (subprocess.exitCode !== null) throw new Error(`${name} ended at once:\n${output.text}`);
      if (performance.now() > deadline) throw new Error(`${name} did not start in time:\n${output.text}`);
      await Bun.sleep(20);
    }
  }

  async #stop(subprocess: Bun.Subprocess): Promise<void> {
    const pids = this.#running.get(subprocess);
    this.#running.delete(subprocess);
    if (pids === undefined || subprocess.exitCode !== null || subprocess.signalCode !== null) return;
    this.#endedCpuSeconds += cpuSeconds(pids);
    subprocess.kill("SIGTERM");
    const ended = await Promise.race([subprocess.exited, Bun.sleep(STOP_TIMEOUT_MS)]);
    if (ended === undefined) subprocess.kill("SIGKILL");
    await subprocess.exited;
  }
}

/** Keeps the beginning, which has the URL or an error, and reads on, so that the child never blocks. */
async function collect(stream: ReadableStream<Uint8Array>, output: { text: string }): Promise<void> {
  const decoder = new TextDecoder();
  for await (const part of stream) {
    if (output.text.length < KEPT_CHARACTERS) output.text += decoder.decode(part, { stream: true });
  }
}
