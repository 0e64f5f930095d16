import { describe, expect, test } from "bun:test";
import { system } from "../base/system.ts";
import { migrate } from "../storage/migrate.ts";
import { MIGRATIONS } from "../storage/migrations/index.ts";
import { sampleReceipt } from "../storage/receipts/receipt.sample.ts";
import { selectUnpricedUses } from "../storage/receipts/unpriced-uses.ts";
import { SqliteStorage } from "../storage/sqlite.ts";
import { UnpricedUses } from "./unpriced-uses.ts";

async function open() {
  const storage = await SqliteStorage.open(":memory:", system.clock);
  await migrate(storage, MIGRATIONS, 1);
  const make = () =>
    new UnpricedUses({ storage, clock: system.clock, onProblem: (error) => expect(error).toBeUndefined() });
  /** All of them, those that are still being recorded too. */
  const recorded = async () => {
    await Bun.sleep(0);
    return selectUnpricedUses(storage, { sinceMs: 0, limit: 10_000 });
  };
  return { storage, make, recorded };
}

describe("decision 0083: use without a known price", () => {
  const KEY = { keyId: "key_1" };
  const used = sampleReceipt({ key: "key_1", unpriced: ["teleport"], createdAtMs: system.clock.wallMs() });

  test("is recorded with the tool that produced it, across restarts and processes", async () => {
    const { storage, make, recorded } = await open();
    const first = make();
    first.note(used, KEY, ["web_search_20250305"]);
    first.note(used, KEY, ["web_search_20260209"]);
    expect(first.blocked(KEY, "web_search_20270101")).toEqual(["teleport"]);
    expect(first.blocked({ keyId: "key_2" }, "web_search")).toBeUndefined();
    await recorded();
    const second = make();
    await second.read();
    expect(second.blocked(KEY, "web_search")).toEqual(["teleport"]);
    const [use, ...others] = await recorded();
    expect(others).toEqual([]);
    expect(use).toMatchObject({ keyId: "key_1", name: "teleport", producedBy: "web_search", calls: 2 });
    await storage.close();
  });

  test("counts for the parent key, and for all of its children", async () => {
    const { storage, make, recorded } = await open();
    const uses = make();
    uses.note({ ...used, key: "child_1" }, { keyId: "child_1", maker: KEY }, ["web_search"]);
    expect(uses.blocked(KEY, "web_search")).toEqual(["teleport"]);
    expect(uses.blocked({ keyId: "child_2", maker: KEY }, "web_search")).toEqual(["teleport"]);
    await recorded();
    await storage.close();
  });

  test("hostile: a key that uses thousands of unknown things takes bounded space, and none of another key's", async () => {
    const { storage, make, recorded } = await open();
    const uses = make();
    for (let call = 0; call < 200; call++) {
      const names = Array.from({ length: 100 }, (_, at) => `made_up_${call}_${at}`);
      uses.note({ ...used, key: "hostile", unpriced: names }, { keyId: "hostile" }, names);
      if (call % 3 === 0) await Bun.sleep(0);
    }
    await recorded();
    uses.note(used, KEY, ["web_search"]);
    expect(uses.blocked(KEY, "web_search")).toEqual(["teleport"]);
    const rows = await recorded();
    expect(rows.filter(({ keyId }) => keyId === "hostile").length).toBeLessThanOrEqual(64 * 8);
    expect(rows.some(({ keyId }) => keyId === "key_1")).toBe(true);
    await storage.close();
  });

  test("blocks nothing if the request had neither tools nor terms", async () => {
    const { storage, make, recorded } = await open();
    const uses = make();
    uses.note(used, KEY, []);
    expect(uses.blocked(KEY, "web_search")).toBeUndefined();
    expect(await recorded()).toMatchObject([{ producedBy: "" }]);
    await storage.close();
  });
});
