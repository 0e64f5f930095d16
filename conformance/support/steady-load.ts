import { join } from "node:path";

/** Calls at a steady rate, as far as the machine can keep up. */
export interface LoadJob {
  port: number;
  path: string;
  key: string;
  body: object;
  connections: number;
  perSecond: number;
}

export interface LoadResult {
  calls: number;
  /** Answers with another status than 200. */
  failed: number;
  perSecond: number;
}

/** A process with an upstream that always gives the same answer, and with clients of a gateway. */
export class SteadyLoad {
  /** Of the upstream. */
  readonly port: number;
  readonly #child: Bun.Subprocess;
  readonly #next: () => Promise<unknown>;

  private constructor(child: Bun.Subprocess, port: number, next: () => Promise<unknown>) {
    this.#child = child;
    this.port = port;
    this.#next = next;
  }

  static async start(answer: object): Promise<SteadyLoad> {
    const waiting: ((message: unknown) => void)[] = [];
    const next = () => new Promise<unknown>((resolve) => waiting.push(resolve));
    const first = next();
    const child = Bun.spawn([process.execPath, join(import.meta.dir, "steady-load.child.ts"), JSON.stringify(answer)], {
      ipc: (message) => waiting.shift()?.(message),
      stdout: "inherit",
      stderr: "inherit",
    });
    return new SteadyLoad(child, ((await first) as { port: number }).port, next);
  }

  async run(job: LoadJob): Promise<void> {
    const started = this.#next();
    this.#child.send(job);
    await started;
  }

  async end(): Promise<LoadResult> {
    const result = this.#next();
    this.#child.send("stop");
    return (await result) as LoadResult;
  }

  async stop(): Promise<void> {
    this.#child.kill();
    await this.#child.exited;
  }
}
