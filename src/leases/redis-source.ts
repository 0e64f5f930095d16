import { createHash } from "node:crypto";
import { RedisClient } from "bun";
import type { Clock } from "../base/clock.ts";
import type { Random } from "../base/sources.ts";
import { withTimeout } from "../base/with-timeout.ts";
import { LEASE_SCRIPT, REPAIR_SCRIPT } from "./lease-script.ts";
import type { LeaseSource, Sync, SyncAnswer } from "./lease-source.ts";

interface RedisSourceOptions {
  /** `redis://user:password@host:port/database`, `rediss://` over TLS. */
  url: string;
  /** The prefix of all keys. */
  prefix: string;
  leaseMs: number;
  clock: Clock;
  random: Random;
  /** The time that the script uses; default: the server's own. */
  nowMs?: () => number;
}

/** Less than a sync may take as a whole. */
const CONNECT_MS = 800;
const ANSWER_MS = 900;
/** Between two attempts to listen. */
const LISTEN_AGAIN_MS = 1_000;
const SETTINGS = { connectionTimeout: CONNECT_MS, autoReconnect: false, enableOfflineQueue: false };

const SHA = createHash("sha1").update(LEASE_SCRIPT).digest("hex");

/**
 * Leases from Redis or Valkey. A connection that fails or is silent is discarded, and the next sync opens another: so
 * no command waits in a queue, and none is sent twice.
 */
export class RedisSource implements LeaseSource {
  readonly #options: RedisSourceOptions;
  #client: RedisClient | undefined;
  /** Receives notifications. Without it instances poll, which takes longer. */
  #listener: RedisClient | undefined;
  #listensAgainMs = Number.NEGATIVE_INFINITY;
  onWanted?: () => void;

  constructor(options: RedisSourceOptions) {
    this.#options = options;
  }

  async sync(sync: Sync): Promise<SyncAnswer> {
    const { clock } = this.#options;
    const late = () => new Error(`Redis did not answer within ${ANSWER_MS} ms`);
    try {
      const answer = readAnswer(await withTimeout(this.#run(sync), ANSWER_MS, clock, late), sync.claims.length);
      if (this.onWanted !== undefined && this.#listener === undefined) void this.#listen(sync.instance);
      return answer;
    } catch (thrown) {
      const explained = isWrongType(thrown) ? await this.#repair(sync, thrown) : thrown;
      this.#disconnect();
      throw explained;
    }
  }

  /**
   * Another program has written under this program's names. Its values are deleted, which is like losing them: the
   * next sync starts over. Otherwise no sync would ever succeed again.
   */
  async #repair(sync: Sync, thrown: Error): Promise<Error> {
    const { prefix, clock } = this.#options;
    const windows = sync.claims.map(({ window }) => window);
    const late = () => thrown;
    const client = this.#client ?? (await this.#connect());
    const given = ["1", `${prefix}{leases}:`, JSON.stringify(windows)];
    const names = await withTimeout(client.send("EVAL", [REPAIR_SCRIPT, ...given]), ANSWER_MS, clock, late);
    const shown = list(names).map(word).join(", ");
    return new Error(`keys of this program in Redis had values of another type and were deleted: ${shown}`, {
      cause: thrown,
    });
  }

  async close(): Promise<void> {
    this.#listensAgainMs = Number.POSITIVE_INFINITY;
    this.#disconnect();
  }

  async #run(sync: Sync): Promise<unknown> {
    const { leaseMs, random, nowMs } = this.#options;
    const client = this.#client ?? (await this.#connect());
    const given = [
      this.#key,
      JSON.stringify(sync),
      String(leaseMs),
      random.id(),
      nowMs ? String(Math.round(nowMs())) : "",
    ];
    try {
      return await client.send("EVALSHA", [SHA, "1", ...given]);
    } catch (thrown) {
      if (!(thrown instanceof Error) || !thrown.message.startsWith("NOSCRIPT")) throw thrown;
      return await client.send("EVAL", [LEASE_SCRIPT, "1", ...given]);
    }
  }

  /** In braces, so that a cluster keeps all of it on one node. */
  get #key(): string {
    return `${this.#options.prefix}{leases}:`;
  }

  /** If it fails, or the user may not subscribe, it is retried later. */
  async #listen(instance: string): Promise<void> {
    const { clock, url } = this.#options;
    if (clock.nowMs() < this.#listensAgainMs) return;
    this.#listensAgainMs = clock.nowMs() + LISTEN_AGAIN_MS;
    const listener = new RedisClient(url, SETTINGS);
    const end = () => {
      if (this.#listener === listener) this.#listener = undefined;
      listener.close();
    };
    this.#listener = listener;
    listener.onclose = end;
    try {
      await listener.connect();
      await listener.subscribe(`${this.#key}wanted`, (instances) => {
        if (instances.split(" ").includes(instance)) this.onWanted?.();
      });
    } catch {
      end();
    }
  }

  async #connect(): Promise<RedisClient> {
    const client = new RedisClient(this.#options.url, SETTINGS);
    this.#client = client;
    client.onclose = () => {
      if (this.#client === client) this.#client = undefined;
    };
    await client.connect();
    return client;
  }

  #disconnect(): void {
    const ended = [this.#client, this.#listener];
    this.#client = undefined;
    this.#listener = undefined;
    for (const client of ended) client?.close();
  }
}

const isWrongType = (thrown: unknown): thrown is Error =>
  thrown instanceof Error && thrown.message.includes("WRONGTYPE");

/** Anything that the script would not write is rejected: the amounts could not be trusted. */
function readAnswer(answer: unknown, claims: number): SyncAnswer {
  const [epoch, instances, held, unknown, wanted, dead, news, newsSeen, left, alone, nowMs] = list(answer);
  const amounts = list(held).map(amount);
  // None if the message was overtaken.
  if (amounts.length !== claims && amounts.length !== 0) throw strange();
  return {
    epoch: word(epoch),
    instances: Math.max(1, amount(instances)),
    held: amounts,
    unknown: list(unknown).map(word),
    wanted: list(wanted).map((one) => {
      const [window, level] = list(one);
      return { window: word(window), level: amount(level) };
    }),
    left: list(left).map(amount),
    alone: list(alone).map(word),
    nowMs: amount(nowMs),
    dead: list(dead).map((one) => {
      const [instance, windows] = list(one);
      return { instance: word(instance), windows: list(windows).map(word) };
    }),
    news: list(news).map(word),
    newsSeen: amount(newsSeen),
  };
}

const strange = () => new Error("Redis returned something that this program's script does not write");

function list(value: unknown): readonly unknown[] {
  if (!Array.isArray(value)) throw strange();
  return value;
}

function word(value: unknown): string {
  if (typeof value !== "string") throw strange();
  return value;
}

function amount(value: unknown): number {
  const text = word(value);
  if (!/^\d{1,16}$/.test(text)) throw strange();
  return Number(text);
}
