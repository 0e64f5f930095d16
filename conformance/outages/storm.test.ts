import { afterAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { system } from "../../src/base/system.ts";
import { checkRollUps } from "../../src/ledger/check-roll-ups.ts";
import { text } from "../../src/storage/columns.ts";
import { openStorage } from "../../src/storage/open.ts";
import { eventually } from "../../testing/eventually.ts";
import { isPresent, programsPresent } from "../../testing/is-present.ts";
import { plainAnswer, plainStream, plainUsage } from "../../testing/plain-answer.ts";
import { startPostgres } from "../../testing/postgres.ts";
import { createDatabase, createTables, databaseUrl } from "../../testing/postgres-tables.ts";
import { startRedis } from "../../testing/redis.ts";
import { sendJson, startEvents, startScriptedUpstream } from "../support/scripted-upstream.ts";
import { GatewayProcess } from "./gateways.ts";

const redis = programsPresent("the storm", "redis-server") ? await startRedis() : undefined;
const postgres = redis && (await startPostgres());
if (redis !== undefined) isPresent(postgres !== undefined, "the storm: there is no PostgreSQL that can be started");
afterAll(async () => {
  await redis?.stop();
  await postgres?.stop();
});

/** In blocks of 512 bytes: less than a journal takes at first. */
const FILE_LIMIT = 768;
const CLIENTS = 4;

/** Clients that call until they are stopped, and what they have got. */
class Storm {
  /** Of responses that arrived whole. */
  readonly receipts: string[] = [];
  readonly refused = new Map<GatewayProcess, number>();
  readonly others: string[] = [];
  readonly #loops: Promise<void>[];
  #isOver = false;

  constructor(gateways: readonly GatewayProcess[]) {
    this.#loops = gateways.flatMap((gateway) => Array.from({ length: CLIENTS }, () => this.#load(gateway)));
  }

  async stop(): Promise<void> {
    this.#isOver = true;
    await Promise.all(this.#loops);
  }

  async #load(gateway: GatewayProcess): Promise<void> {
    for (let call = 0; !this.#isOver; call += 1) {
      if (gateway.isDown) await eventually("its next start", () => !gateway.isDown || this.#isOver);
      else await this.#call(gateway, call % 2 === 0).catch(() => {});
    }
  }

  async #call(gateway: GatewayProcess, stream: boolean): Promise<void> {
    const answer = await gateway.call("open", stream);
    const body = await answer.text();
    if (answer.status === 200 && (!stream || body.includes("[DONE]")))
      this.receipts.push(answer.headers.get("x-trivium-receipt") ?? "");
    else if (answer.status === 503 && body.includes("the disk of its journal is full"))
      this.refused.set(gateway, (this.refused.get(gateway) ?? 0) + 1);
    else if (!gateway.isDown) this.others.push(`${answer.status} ${body.slice(-200)}`);
  }
}

describe.skipIf(redis === undefined || postgres === undefined)("M6, H21: a storm", () => {
  test("three gateways whose disks fill up while PostgreSQL is away, each killed twice: every response has its row", async () => {
    if (redis === undefined || postgres === undefined) throw new Error("not skipped");
    const folder = mkdtempSync(join(tmpdir(), "trivium-storm-"));
    const upstream = await startScriptedUpstream();
    upstream.play(({ body }, response) => {
      const usage = plainUsage("chat", 10, 5);
      if (body.includes('"stream":true')) {
        startEvents(response);
        response.end(plainStream("chat", ["Hel", "lo"], usage));
      } else sendJson(response, plainAnswer("chat", { text: "Hello", usage }));
    });
    const tables = await createTables(postgres.url);
    const storage = databaseUrl(postgres.url, await createDatabase(postgres.url, tables));
    const gateways = [1, 2, 3].map(
      (number) => new GatewayProcess({ folder, name: `gateway-${number}`, fileLimit: FILE_LIMIT }),
    );
    let storm: Storm | undefined;
    try {
      const servers = { storage, redis: redis.url, upstream: upstream.url, budgetCalls: 1 };
      for (const gateway of gateways) await gateway.configure(servers);
      await Promise.all(gateways.map((gateway) => gateway.start()));
      storm = new Storm(gateways);
      const { receipts, refused, others } = storm;
      for (const round of [1, 2]) {
        const before = receipts.length;
        await postgres.halt();
        await eventually(
          `refusals everywhere in round ${round}`,
          () => gateways.every((gateway) => (refused.get(gateway) ?? 0) >= 10),
          { seen: () => [receipts.length, [...refused.values()], others.slice(-3)] },
        );
        for (const gateway of gateways) await gateway.kill();
        refused.clear();
        await postgres.start();
        await Promise.all(gateways.map((gateway) => gateway.start()));
        expect(receipts.length - before).toBeGreaterThan(300);
        const after = receipts.length;
        await eventually("calls that are answered again", () => receipts.length > after + 50);
      }
      await storm.stop();
      for (const gateway of gateways) await gateway.stop();
      const stored = await openStorage(storage, system.clock);
      const found = new Set((await stored.query("SELECT id FROM receipts")).map((row) => text(row, "id")));
      expect(receipts.filter((id) => !found.has(id))).toEqual([]);
      expect((await checkRollUps(stored)).differences).toEqual([]);
      await stored.close();
    } finally {
      await storm?.stop();
      for (const gateway of gateways) await gateway.kill();
      await upstream.stop();
      rmSync(folder, { recursive: true, force: true });
    }
  });
});
