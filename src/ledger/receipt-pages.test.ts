import { afterAll, afterEach, beforeEach, describe, expect, test } from "bun:test";
import { type TestDatabases, testDatabases } from "../../testing/test-databases.ts";
import { system } from "../base/system.ts";
import { timePrefix } from "../base/timed-id.ts";
import type { Receipt } from "../canon/receipt.ts";
import { openStorage } from "../storage/open.ts";
import { sampleReceipt } from "../storage/receipts/receipt.sample.ts";
import type { ReceiptFilter } from "../storage/receipts/receipt-pages.ts";
import { insertReceipts } from "../storage/receipts/receipts.ts";
import type { Storage } from "../storage/storage.ts";
import { csvRow, exportReceipts } from "./export.ts";
import { listReceipts, receiptById } from "./receipt-pages.ts";

const HOUR_MS = 3_600_000;
const START_MS = Date.UTC(2026, 4, 1);

const VERDICTS = ["passed", "blocked", "not_run"] as const;

/** Four an hour for some days; neighbours differ in key, model and outcome. */
const receiptAt = (index: number): Receipt => {
  const createdAtMs = START_MS + index * (HOUR_MS / 4);
  return sampleReceipt({
    id: `rcp_${timePrefix(createdAtMs)}${String(index).padStart(6, "0")}`,
    createdAtMs,
    key: `key_${index % 3}`,
    model: `acme/m${index % 5}`,
    outcome: index % 7 === 0 ? "rate_limited" : "ok",
    costNanoUsd: index,
    totalMs: index * 10,
    stream: index % 2 === 0,
    lane: index % 4 === 0 ? "native" : "translated",
    clientDialect: index % 9 === 0 ? "genai" : "chat",
    // Two calls for each request, and a trace that few calls belong to.
    requestId: `req_${timePrefix(createdAtMs - (index % 2) * (HOUR_MS / 4))}abc${index - (index % 2)}`,
    ...(index % 50 === 0 ? { traceId: `${String(index).padStart(16, "0")}a3ce929d0e0e4736` } : {}),
    ...(index % 8 === 0 ? { batch: { id: "batch_8", line: index + 1, customId: `row ${index}` } } : {}),
    ...(index % 6 === 0
      ? { guards: [{ name: "own", on: "request", verdict: VERDICTS[(index / 6) % 3] ?? "passed", ms: 1 }] }
      : {}),
    ...(index === 40 ? { provider: "Rare_100%" } : {}),
  });
};

async function allPages(storage: Storage, filter: ReceiptFilter, limit: number): Promise<string[]> {
  const ids: string[] = [];
  let after: string | undefined;
  for (let pages = 0; pages < 500; pages += 1) {
    const { receipts, next } = await listReceipts(storage, filter, {
      limit,
      ...(after === undefined ? {} : { after }),
    });
    ids.push(...receipts.map(({ id }) => id));
    if (next === undefined) return ids;
    after = next;
  }
  throw new Error("the pages do not end");
}

function pagesContract(databases: TestDatabases): void {
  describe(`receipts in pages on ${databases.engine}`, () => {
    let storage: Storage;
    const receipts = Array.from({ length: 400 }, (_, index) => receiptAt(index));
    beforeEach(async () => {
      storage = await openStorage(await databases.withTables(), system.clock);
      await insertReceipts(storage, receipts);
    });
    afterEach(() => storage.close());
    afterAll(() => databases.clear());

    test.each([
      [{}, () => true],
      [{ key: "key_1" }, (receipt: Receipt) => receipt.key === "key_1"],
      [
        { model: "acme/m2", outcome: "rate_limited" },
        (receipt: Receipt) => receipt.model === "acme/m2" && receipt.outcome === "rate_limited",
      ],
      [
        { fromMs: START_MS + 1_000, toMs: START_MS + 20 * HOUR_MS },
        ({ createdAtMs: at }: Receipt) => at > START_MS + 1_000 && at < START_MS + 20 * HOUR_MS,
      ],
      [{ minCostNanoUsd: 390, project: "default" }, (receipt: Receipt) => receipt.costNanoUsd >= 390],
      [{ outcome: "failed", key: "key_2" }, (receipt: Receipt) => receipt.outcome !== "ok" && receipt.key === "key_2"],
      [{ guard: "own" }, ({ guards = [] }: Receipt) => guards[0]?.verdict === "blocked"],
      [{ guard: "ow" }, () => false],
      [{ minTotalMs: 3_950 }, (receipt: Receipt) => receipt.totalMs >= 3_950],
      [{ stream: false, lane: "translated" }, (receipt: Receipt) => !receipt.stream && receipt.lane === "translated"],
      [{ stream: true, dialect: "genai" }, (receipt: Receipt) => receipt.stream && receipt.clientDialect === "genai"],
      [{ lane: "native" }, (receipt: Receipt) => receipt.lane === "native"],
      [{ text: "rare_100%" }, (receipt: Receipt) => receipt.provider === "Rare_100%"],
      [{ text: "%" }, (receipt: Receipt) => receipt.provider === "Rare_100%"],
      [{ text: receiptAt(17).id.slice(0, 13) }, (receipt: Receipt) => receipt.id === receiptAt(17).id],
      [{ text: receiptAt(18).requestId ?? "" }, ({ requestId }: Receipt) => requestId === receiptAt(18).requestId],
      [
        { text: (receiptAt(18).requestId ?? "").slice(0, 13) },
        ({ requestId }: Receipt) => requestId === receiptAt(18).requestId,
      ],
      [{ text: (receiptAt(18).requestId ?? "").toUpperCase() }, () => false],
      [{ text: "0000000000000050A3CE929D0E0E4736" }, ({ id }: Receipt) => id === receiptAt(50).id],
      [{ text: "0000000000000350" }, ({ id }: Receipt) => id === receiptAt(350).id],
      [{ text: "0000000000000050a3ce929d0e0e4736", key: "key_of_none" }, () => false],
      [
        { text: "00000000000000", key: "key_1" },
        ({ key }: Receipt) => key === "none of them: fewer than 16 digits are a part of a name",
      ],
      [{ provider: "Rare_100%" }, (receipt: Receipt) => receipt.provider === "Rare_100%"],
      [
        { provider: "Rare_100%", fromMs: START_MS + 9 * HOUR_MS, toMs: START_MS + 50 * HOUR_MS },
        (receipt: Receipt) => receipt.provider === "Rare_100%",
      ],
      [{ provider: "Rare_100%", fromMs: START_MS + 11 * HOUR_MS, toMs: START_MS + 12 * HOUR_MS }, () => false],
      [{ provider: "Rare_100%", toMs: START_MS + 10 * HOUR_MS }, () => false],
      [{ provider: "Rare_100%", fromMs: START_MS + 11 * HOUR_MS }, () => false],
      [{ batch: "batch_8" }, (receipt: Receipt) => receipt.batch?.id === "batch_8"],
      [
        { batch: "batch_8", outcome: "failed", key: "key_1", fromMs: START_MS + HOUR_MS },
        ({ batch, outcome, key, createdAtMs }: Receipt) =>
          batch?.id === "batch_8" && outcome !== "ok" && key === "key_1" && createdAtMs > START_MS,
      ],
      [{ batch: "batch_of_none" }, () => false],
      [{ key: "key_of_none" }, () => false],
      [{ project: "theirs" }, () => false],
    ] satisfies [ReceiptFilter, (receipt: Receipt) => boolean][])(
      "S09, S13: the pages of %j have each receipt once, the newest first",
      async (filter, fits) => {
        const expected = receipts.filter(fits).map(({ id }) => id);
        expect(await allPages(storage, filter, 7)).toEqual(expected.toReversed());
        let exported = "";
        for await (const piece of exportReceipts(storage, filter, "jsonl")) exported += piece;
        const lines = exported.split("\n").filter((line) => line !== "");
        expect(lines.map((line) => (JSON.parse(line) as { id: string }).id)).toEqual(expected);
      },
    );

    test("a page with a filter reads a bounded number of rows, and reports how far it searched", async () => {
      const createdAtMs = START_MS - HOUR_MS / 2;
      const many = Array.from({ length: 41_000 }, (_, index) =>
        sampleReceipt({
          id: `rcp_${timePrefix(createdAtMs)}${String(index).padStart(6, "0")}`,
          createdAtMs,
          model: index === 0 ? "acme/oldest" : "acme/other",
          offers: [],
          fields: [],
        }),
      );
      for (let at = 0; at < many.length; at += 1_000) await insertReceipts(storage, many.slice(at, at + 1_000));
      const filter = { model: "acme/oldest" };
      const first = await listReceipts(storage, filter, { limit: 5 });
      expect(first).toMatchObject({ receipts: [], searchedBackToMs: createdAtMs });
      const second = await listReceipts(storage, filter, { limit: 5, after: first.next ?? "" });
      expect(second.receipts.map(({ id }) => id)).toEqual([many[0]?.id ?? ""]);
      expect(second.next).toBeUndefined();
    });

    test("decision 0112: the receipts of a batch are found by an index, however many others there are", async () => {
      const createdAtMs = START_MS - HOUR_MS / 2;
      const others = Array.from({ length: 41_000 }, (_, index) => {
        const { batch, ...other } = sampleReceipt({
          id: `rcp_${timePrefix(createdAtMs)}${String(index).padStart(6, "0")}`,
          createdAtMs,
          offers: [],
          fields: [],
        });
        return index < 2 && batch !== undefined ? { ...other, batch: { ...batch, id: "batch_old" } } : other;
      });
      for (let at = 0; at < others.length; at += 1_000) await insertReceipts(storage, others.slice(at, at + 1_000));
      const page = await listReceipts(storage, { batch: "batch_old" }, { limit: 5 });
      expect(page.receipts.map(({ id }) => id)).toEqual([others[1]?.id ?? "", others[0]?.id ?? ""]);
      expect(page).not.toContainAnyKeys(["next", "searchedBackToMs"]);
      expect(page.receipts[0]?.batch).toEqual({ id: "batch_old", line: 7, customId: "row 7" });
    });

    test("S09: a receipt is found by its id, for a project only its own", async () => {
      const { id } = receiptAt(3);
      expect(await receiptById(storage, id)).toEqual(receiptAt(3));
      expect(await receiptById(storage, id, "default")).toEqual(receiptAt(3));
      expect(await receiptById(storage, id, "theirs")).toBeUndefined();
    });

    test("an export is read chunk by chunk, on demand", async () => {
      let queries = 0;
      const counted: Storage = Object.create(storage, {
        query: {
          value: (...parameters: Parameters<Storage["query"]>) => {
            queries += 1;
            return storage.query(...parameters);
          },
        },
      });
      const pieces = exportReceipts(counted, {}, "csv");
      const head = await pieces.next();
      expect(String(head.value)).toStartWith("id,created_at,project,key,model,provider,");
      expect(queries).toBe(0);
      const piece = await pieces.next();
      expect(String(piece.value).split("\r\n")).toHaveLength(401);
      const soFar = queries;
      await Bun.sleep(0);
      expect(queries).toBe(soFar);
      await pieces.return(undefined);
    });
  });
}

for (const databases of testDatabases("pages of receipts")) pagesContract(databases);

describe("csvRow", () => {
  test("S14: cells that a spreadsheet would run become text, and quotes and line breaks stay within their cell", () => {
    expect(csvRow(["＝1+1", "＠x", "\n=1"])).toBe(`'＝1+1,'＠x,"'\n=1"\r\n`);
    expect(csvRow(["=1+1", "+a", "-2", "@SUM(A1)", "\tx", -2, null, 'say "x", y', "a\nb", "plain"])).toBe(
      `'=1+1,'+a,'-2,'@SUM(A1),'\tx,-2,,"say ""x"", y","a\nb",plain\r\n`,
    );
  });
});
