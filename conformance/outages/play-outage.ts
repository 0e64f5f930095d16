import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { system } from "../../src/base/system.ts";
import { checkRollUps } from "../../src/ledger/check-roll-ups.ts";
import { number, text } from "../../src/storage/columns.ts";
import { openStorage } from "../../src/storage/open.ts";
import { plainAnswer, plainStream, plainUsage } from "../../testing/plain-answer.ts";
import type { TemporaryPostgres } from "../../testing/postgres.ts";
import { createDatabase, databaseUrl } from "../../testing/postgres-tables.ts";
import type { TemporaryRedis } from "../../testing/redis.ts";
import { sendJson, sleep, startEvents, startScriptedUpstream } from "../support/scripted-upstream.ts";
import { Clients, type Failure } from "./clients.ts";
import { COST_NANO_USD, GatewayProcess } from "./gateways.ts";

export interface Servers {
  postgres: TemporaryPostgres;
  /** A database that is copied. */
  tables: string;
  redis: TemporaryRedis;
}

/** What is done to a server, and how it is undone. */
export interface Outage {
  name: string;
  server: "postgres" | "redis";
  begin(servers: Servers): void | Promise<void>;
  end(servers: Servers): void | Promise<void>;
}

export const OUTAGES: readonly Outage[] = [
  {
    name: "PostgreSQL stopped",
    server: "postgres",
    begin: ({ postgres }) => postgres.halt(),
    end: ({ postgres }) => postgres.start(),
  },
  {
    name: "PostgreSQL frozen",
    server: "postgres",
    begin: ({ postgres }) => postgres.freeze(),
    end: ({ postgres }) => postgres.thaw(),
  },
  { name: "Redis stopped", server: "redis", begin: ({ redis }) => redis.halt(), end: ({ redis }) => redis.start() },
  { name: "Redis frozen", server: "redis", begin: ({ redis }) => redis.freeze(), end: ({ redis }) => redis.thaw() },
  { name: "Redis flushed", server: "redis", begin: ({ redis }) => redis.flush(), end: ({ redis }) => redis.flush() },
];

interface OutageOptions {
  servers: Servers;
  seconds: number;
  /** Default: 2. */
  gateways?: number;
  /** Every second gateway is killed during the outage, and started again after it. */
  kills: boolean;
  /**
   * How long the budget is retried after it was refused everywhere: shares move in the background, and not immediately
   * after an outage.
   */
  refusedMs: number;
  /** Between two calls of a client. */
  pauseMs: number;
  /** How long the load lasts before the outage, and again after recovery. */
  calmMs: number;
}

export interface OutageReport {
  asked: number;
  answered: number;
  /** Failed calls, except those ended by the kill and those refused by the small budget. */
  failures: readonly Failure[];
  slowestMs: number;
  /** From the end of the outage until all gateways were ready and had stored everything. */
  healedMs: number;
  /** Fully received responses without a row. */
  missing: number;
  /** Rows in excess of calls, and responses whose row has a wrong cost. */
  wrongRows: number;
  wrongSums: number;
  /** A budget for this many calls, and how many are in the ledger. */
  budget: { calls: number; spent: number };
}

const HEAL_MS = 120_000;
/** Gateways on PostgreSQL and Redis under load, while one of those servers is unavailable. */
export async function playOutage(
  outage: Outage,
  { servers, seconds, gateways: count = 2, kills, refusedMs, pauseMs, calmMs }: OutageOptions,
): Promise<OutageReport> {
  const folder = mkdtempSync(join(tmpdir(), "trivium-outage-"));
  const upstream = await startScriptedUpstream();
  upstream.play(async ({ body }, response) => {
    await sleep(5);
    const usage = plainUsage("chat", 10, 5);
    if (body.includes('"stream":true')) {
      startEvents(response);
      response.end(plainStream("chat", ["Hel", "lo"], usage));
    } else sendJson(response, plainAnswer("chat", { text: "Hello", usage }));
  });
  const storage = databaseUrl(servers.postgres.url, await createDatabase(servers.postgres.url, servers.tables));
  const budgetCalls = 100 + Math.ceil(seconds * 4 * count);
  const gateways = Array.from({ length: count }, (_, at) => new GatewayProcess({ folder, name: `gateway-${at + 1}` }));
  const killed = kills ? gateways.filter((_, at) => at % 2 === 1) : [];
  let clients: Clients | undefined;
  let isAway = false;
  const end = async () => {
    if (isAway) await outage.end(servers);
    isAway = false;
  };
  try {
    await servers.redis.flush();
    for (const gateway of gateways) {
      await gateway.configure({ storage, redis: servers.redis.url, upstream: upstream.url, budgetCalls });
      await gateway.start();
    }
    clients = new Clients(gateways, { purseCalls: Math.floor((budgetCalls * 0.6) / count), pauseMs });
    await sleep(calmMs);
    isAway = true;
    await outage.begin(servers);
    await sleep(seconds * 600);
    for (const gateway of killed) await gateway.kill();
    await sleep(seconds * 400);
    await end();
    const endedMs = performance.now();
    await Promise.all(killed.map((gateway) => gateway.start()));
    // The journal of a killed process is removed a minute later: its rows are stored by then.
    await healed(
      gateways,
      gateways.filter((gateway) => !killed.includes(gateway)),
    );
    const healedMs = Math.round(performance.now() - endedMs);
    await sleep(calmMs);
    await clients.stop();
    const slowestMs = Math.round(clients.slowestMs);
    await spendAll(clients, gateways, refusedMs);
    for (const gateway of gateways) await gateway.stop();
    const { spent, ...compared } = await compare(storage, clients);
    return {
      ...compared,
      asked: clients.asked,
      answered: clients.answered.length,
      failures: clients.failures.filter(({ key, why }) => key !== "purse" || !/^4(02|29) /.test(why)),
      slowestMs,
      healedMs,
      budget: { calls: budgetCalls, spent },
    };
  } finally {
    await end();
    await clients?.stop();
    for (const gateway of gateways) await gateway.kill();
    await upstream.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** All are ready, and nothing waits in the journals of these. */
async function healed(gateways: readonly GatewayProcess[], emptied: readonly GatewayProcess[]): Promise<void> {
  const untilMs = performance.now() + HEAL_MS;
  for (const gateway of gateways) {
    for (;;) {
      const condition = await gateway.condition();
      if (condition === "ready" && (gateway.journals === 0 || !emptied.includes(gateway))) break;
      if (performance.now() > untilMs)
        throw new Error(`${gateway.name} is still ${condition}, with ${gateway.journals} journals.`);
      await sleep(50);
    }
  }
}

/** Uses up the rest of the budget, at all gateways at once, until all refuse. */
async function spendAll(clients: Clients, gateways: readonly GatewayProcess[], refusedMs: number): Promise<void> {
  let spentMs = performance.now();
  while (performance.now() - spentMs < refusedMs) {
    const statuses = await Promise.all(gateways.map((gateway) => clients.ask(gateway, "purse")));
    if (statuses.includes(200)) spentMs = performance.now();
    else await sleep(100);
  }
}

async function compare(url: string, { asked, answered }: Clients) {
  const storage = await openStorage(url, system.clock);
  try {
    const rows = await storage.query("SELECT id, key_id, cost_nano_usd FROM receipts");
    const costs = new Map(rows.map((row) => [text(row, "id"), number(row, "cost_nano_usd")]));
    const found = answered.filter(({ id }) => costs.has(id));
    return {
      missing: answered.length - found.length,
      wrongRows:
        found.filter(({ id }) => costs.get(id) !== COST_NANO_USD).length +
        Math.max(0, rows.length - asked) +
        (rows.length - costs.size),
      wrongSums: (await checkRollUps(storage)).differences.length,
      spent: rows.filter((row) => text(row, "key_id").includes("purse") && number(row, "cost_nano_usd") > 0).length,
    };
  } finally {
    await storage.close();
  }
}
