import { describe, expect, test } from "bun:test";
import { system } from "../base/system.ts";
import { migrate } from "../storage/migrate.ts";
import { MIGRATIONS } from "../storage/migrations/index.ts";
import { sampleReceipt } from "../storage/receipt.sample.ts";
import { SqliteStorage } from "../storage/sqlite.ts";
import { selectUnpricedUses } from "../storage/unpriced-uses.ts";
import { UnpricedUses } from "./unpriced-uses.ts";

async function open() {
  const storage = await SqliteStorage.open(":memory:", system.clock);
  await migrate(storage, MIGRATIONS, 1);
  const make = () =>
    new UnpricedUses({ storage, clock: system.clock, onProblem: (error) => expect(error).toBeUndefined() });
  return { storage, make };
}

describe("decision 0083: what a key used without a known price", () => {
  const used = sampleReceipt({ key: "key_1", unpriced: ["teleport"], createdAtMs: system.clock.wallMs() });

  test("is known by the tool that produced it, after a restart and to other processes", async () => {
    const { storage, make } = await open();
    const first = make();
    first.note(used, ["web_search"]);
    first.note(used, ["web_search"]);
    expect(first.blocked("key_1")?.get("web_search")).toEqual(["teleport"]);
    expect(first.blocked("key_2")).toBeUndefined();
    await Bun.sleep(10);
    const second = make();
    await second.read();
    expect(second.blocked("key_1")?.get("web_search")).toEqual(["teleport"]);
    const [use, ...others] = await selectUnpricedUses(storage, { sinceMs: 0, limit: 10 });
    expect(others).toEqual([]);
    expect(use).toMatchObject({ keyId: "key_1", name: "teleport", producedBy: "web_search", calls: 2 });
    await storage.close();
  });

  test("blocks nothing where the request had neither tools nor terms", async () => {
    const { storage, make } = await open();
    const uses = make();
    uses.note(used, []);
    expect(uses.blocked("key_1")).toBeUndefined();
    await Bun.sleep(10);
    expect(await selectUnpricedUses(storage, { sinceMs: 0, limit: 10 })).toMatchObject([{ producedBy: "" }]);
    await storage.close();
  });
});
