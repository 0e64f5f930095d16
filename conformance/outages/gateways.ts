import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { freePort } from "../../testing/free-port.ts";
import { scriptedModels } from "../../testing/scripted-models.ts";
import { callGateway } from "../support/client-calls.ts";
import { TRIVIUM } from "../support/program.ts";
import { TEST_ADMIN_SECRET } from "../support/test-gateway.ts";

const START_MS = 60_000;
/** At the prices of `scriptedModels`, of the provider's answers. */
export const COST_NANO_USD = 20_000;

/** Estimated at more tokens than the provider counts, so that no call costs more than is reserved for it. */
const PROMPT = "Say hello to everyone who reads this, in as few words as can be.";

const KEYS = {
  open: `sk-trv-${"open-".repeat(9).slice(0, 43)}`,
  limited: `sk-trv-${"limited-".repeat(9).slice(0, 43)}`,
  purse: `sk-trv-${"purse-".repeat(9).slice(0, 43)}`,
};
type KeyName = keyof typeof KEYS;

interface GatewayOptions {
  storage: string;
  redis: string;
  upstream: string;
  /** How many calls the budget of the key `purse` is for. */
  budgetCalls: number;
}

/** One of several gateway processes, with its own folder as on a separate machine. */
export class GatewayProcess {
  readonly name: string;
  url = "";
  /** It was killed, or is being started. */
  isDown = true;
  readonly #folder: string;
  #child: Bun.Subprocess | undefined;

  /** No file of it can be larger, in blocks of 512 bytes: like a disk that is full. */
  readonly #fileLimit: number | undefined;

  constructor({ folder, name, fileLimit }: { folder: string; name: string; fileLimit?: number }) {
    this.name = name;
    this.#folder = join(folder, name);
    this.#fileLimit = fileLimit;
  }

  async configure({ storage, redis, upstream, budgetCalls }: GatewayOptions): Promise<void> {
    mkdirSync(this.#folder, { recursive: true });
    const [port, adminPort] = [freePort(), freePort()];
    this.url = `http://127.0.0.1:${port}`;
    const much = { requests_per_minute: 1_000_000, tokens_per_minute: 1_000_000_000, concurrent: 1_000 };
    writeFileSync(
      join(this.#folder, "trivium.yaml"),
      JSON.stringify({
        server: { port },
        admin: { port: adminPort, secret: TEST_ADMIN_SECRET },
        storage,
        redis,
        files: join(this.#folder, "../files"),
        simulator: false,
        log: { calls: "off" },
        keys: [
          { name: "open", key: KEYS.open, project: "free" },
          { name: "limited", key: KEYS.limited, limits: { ...much, budget_usd_per_day: 1_000 } },
          { name: "purse", key: KEYS.purse, limits: { budget_usd_total: (budgetCalls * COST_NANO_USD) / 1e9 } },
        ],
        ...scriptedModels(upstream, { first_byte: 20_000, idle: 20_000 }),
      }),
    );
  }

  async start(): Promise<void> {
    const log = Bun.file(join(this.#folder, "log"));
    const limited = this.#fileLimit === undefined ? "" : `trap '' XFSZ; ulimit -S -f ${this.#fileLimit}; `;
    const child = Bun.spawn(["sh", "-c", `${limited}exec "$0" serve --workers 1`, TRIVIUM], {
      cwd: this.#folder,
      stdin: "ignore",
      stdout: "ignore",
      stderr: log,
    });
    this.#child = child;
    const untilMs = performance.now() + START_MS;
    while ((await this.condition()) !== "ready") {
      if (performance.now() > untilMs || child.exitCode !== null)
        throw new Error(`The gateway ${this.name} did not start: ${await log.text()}`);
      await Bun.sleep(20);
    }
    this.isDown = false;
  }

  /** The response of `/readyz`. */
  async condition(): Promise<string> {
    const answer = await fetch(`${this.url}/readyz`, { signal: AbortSignal.timeout(5_000) }).catch(() => undefined);
    const body = (await answer?.json().catch(() => ({}))) as { status?: string } | undefined;
    return body?.status ?? "no answer";
  }

  /** Journals with content. The others have zeros only. */
  get journals(): number {
    const folder = join(this.#folder, "data", "journal");
    try {
      const names = readdirSync(folder).filter((name) => name.endsWith(".journal"));
      return names.filter((name) => (readFileSync(join(folder, name))[0] ?? 0) !== 0).length;
    } catch {
      return 0;
    }
  }

  async kill(): Promise<void> {
    this.isDown = true;
    this.#child?.kill("SIGKILL");
    await this.#child?.exited;
  }

  async stop(): Promise<void> {
    this.isDown = true;
    this.#child?.kill("SIGTERM");
    await this.#child?.exited;
  }

  call(key: KeyName, stream: boolean): Promise<Response> {
    // A small limit of the output, so that as little is reserved for a call as it costs.
    const body = key === "purse" ? { max_completion_tokens: 5, messages: [{ role: "user", content: PROMPT }] } : {};
    return callGateway(this.url, "chat", KEYS[key], { stream, body });
  }
}
