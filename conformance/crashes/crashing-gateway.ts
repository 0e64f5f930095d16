import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { listenersAt } from "../../bench/proc.ts";
import { TEST_KEY } from "../../testing/test-key.ts";
import { callGateway } from "../support/client-calls.ts";
import { childrenOf, isAlive, TRIVIUM } from "../support/program.ts";

const START_MS = 60_000;
/** Killed processes are gone within this. */
const ORPHANED_MS = 60_000;

/** It looks like more tokens than the provider counts, and may produce as many: a budget holds for such calls. */
const ASKED = {
  max_completion_tokens: 10,
  messages: [{ role: "user", content: "Is it so, and was it so before, and will it be so tomorrow?" }],
};

/** Delay before the next call when nothing listens. */
const AWAY_MS = 10;

interface CrashKey {
  name: string;
  key: string;
  limits?: Readonly<Record<string, number>>;
}

interface CrashingGatewayOptions {
  /** Where it runs; its configuration and its data are there. */
  folder: string;
  config: { server: { port: number } } & Record<string, unknown>;
  /** 0: one process without any. */
  workers: number;
}

/** A gateway that is killed under load, and started again on the same storage. */
export class CrashingGateway {
  readonly #options: CrashingGatewayOptions;
  readonly #url: string;
  #child: Bun.Subprocess | undefined;
  /** Workers whose first process was killed. */
  #orphans: number[] = [];
  /** Receipts of fully received responses. */
  readonly answered: string[] = [];
  asked = 0;
  /** How long starts after a kill took until they were ready, and how long orphans lived, in milliseconds. */
  readonly servedMs: number[] = [];
  /** The same of all other starts. */
  readonly calmMs: number[] = [];
  readonly orphanedMs: number[] = [];
  /** Statuses other than 200, and how often each. */
  readonly refused = new Map<number, number>();

  constructor(options: CrashingGatewayOptions) {
    this.#options = options;
    this.#url = `http://127.0.0.1:${options.config.server.port}`;
  }

  get url(): string {
    return this.#url;
  }

  /** Of the started process. */
  get pid(): number | undefined {
    return this.#child?.pid;
  }

  get isRunning(): boolean {
    return this.#child !== undefined;
  }

  /** With the key of `call` if none is given. */
  async start(keys: readonly CrashKey[] = [{ name: "tests", key: TEST_KEY }]): Promise<void> {
    const { folder, config, workers } = this.#options;
    writeFileSync(join(folder, "trivium.yaml"), JSON.stringify({ ...config, keys }));
    const beganMs = performance.now();
    const isAfterKill = this.#orphans.length > 0;
    const flags = ["--workers", String(Math.max(1, workers))];
    this.#child = Bun.spawn([TRIVIUM, "serve", ...flags], {
      cwd: folder,
      stdin: "ignore",
      stdout: "ignore",
      stderr: Bun.file(join(folder, "stderr")),
    });
    await this.#until(() => this.#isReady(), START_MS, "the gateway did not start");
    (isAfterKill ? this.servedMs : this.calmMs).push(performance.now() - beganMs);
    this.#orphans = [];
    await this.allListen();
  }

  /** Waits until as many processes accept calls as there are workers. */
  async allListen(): Promise<void> {
    const { workers, config } = this.#options;
    const count = Math.max(1, workers);
    const isSo = async () => (await listenersAt(config.server.port)) === count;
    await this.#until(isSo, START_MS, "not all workers did start");
  }

  /** One of the workers: the first process replaces it. */
  async killWorker(draw: (below: number) => number): Promise<void> {
    const workers = this.#workers();
    const victim = workers[draw(workers.length)];
    if (victim === undefined) throw new Error("there is no worker");
    process.kill(victim, "SIGKILL");
    const isReplaced = () => this.#workers().length === workers.length && !this.#workers().includes(victim);
    await this.#until(async () => isReplaced(), START_MS, "a worker was not replaced");
  }

  /** Kills the started process; its workers exit on their own, while the next start begins. */
  async kill(): Promise<void> {
    const child = this.#child;
    if (child === undefined) throw new Error("it does not run");
    const workers = this.#workers();
    child.kill("SIGKILL");
    await child.exited;
    this.#child = undefined;
    this.#orphans = [child.pid, ...workers];
    const killedMs = performance.now();
    void this.#until(
      async () => !workers.some(isAlive),
      ORPHANED_MS,
      "workers without a first process did not end",
    ).then(() => this.orphanedMs.push(performance.now() - killedMs));
  }

  /** Kills all of its processes at once: none finishes a call. */
  async killAll(): Promise<void> {
    const child = this.#child;
    if (child === undefined) throw new Error("it does not run");
    const workers = this.#workers();
    for (const pid of [child.pid, ...workers]) process.kill(pid, "SIGKILL");
    await child.exited;
    this.#child = undefined;
    await this.#until(async () => !workers.some(isAlive), ORPHANED_MS, "workers that were killed did not end");
  }

  async stop(): Promise<void> {
    this.#child?.kill("SIGTERM");
    await this.#child?.exited;
    this.#child = undefined;
  }

  /** One client, which calls again and again. */
  async load(isOver: () => boolean): Promise<void> {
    while (!isOver()) await this.call();
  }

  /** 0 if it was cut: it may or may not have a row. */
  async call(): Promise<number> {
    this.asked += 1;
    try {
      const answer = await callGateway(this.#url, "chat", TEST_KEY, { body: ASKED });
      const id = answer.headers.get("x-trivium-receipt");
      await answer.text();
      if (answer.status === 200 && id !== null) this.answered.push(id);
      else this.refused.set(answer.status, (this.refused.get(answer.status) ?? 0) + 1);
      if (answer.status === 503) await Bun.sleep(AWAY_MS);
      return answer.status;
    } catch {
      await Bun.sleep(AWAY_MS);
      return 0;
    }
  }

  #workers(): number[] {
    return this.#child === undefined || this.#options.workers === 0 ? [] : childrenOf(this.#child.pid);
  }

  async #isReady(): Promise<boolean> {
    if (this.#child?.exitCode !== null) throw new Error(`the gateway has ended with ${this.#child?.exitCode}`);
    // A worker without its first process may still answer.
    if (this.#orphans.some(isAlive)) return false;
    return (await fetch(`${this.#url}/readyz`).catch(() => undefined))?.status === 200;
  }

  async #until(holds: () => Promise<boolean>, withinMs: number, otherwise: string): Promise<void> {
    const untilMs = performance.now() + withinMs;
    while (!(await holds())) {
      if (performance.now() > untilMs) throw new Error(`${otherwise} within ${withinMs / 1000} s`);
      await Bun.sleep(20);
    }
  }
}
