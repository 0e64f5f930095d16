import { describe, expect, test } from "bun:test";
import { ADMIN_SECRET, AdminHarness } from "../../../testing/admin-harness.ts";
import { MemoryVideos } from "../../../testing/memory-videos.ts";

const asAdmin = { secret: ADMIN_SECRET };

interface Item {
  id: string;
  state: string;
  name: string;
  cancelled: boolean;
  error: { message: string } | null;
}

const listed = async (admin: AdminHarness, query = "") =>
  (await admin.ask("GET", `/api/operations${query}`, asAdmin)).json as { data: Item[]; next: string | null };

describe("choices 10: operations", () => {
  test("are listed newest first, in pages, with filters", async () => {
    const videos = await MemoryVideos.start({ polls: false });
    const admin = AdminHarness.over(videos.harness);
    const ids: string[] = [];
    for (let made = 0; made < 5; made++) ids.unshift((await videos.submit({ prompt: `fox ${made}` })).id);
    const seen: string[] = [];
    let after = "";
    for (let pages = 0; pages < 5; pages++) {
      const { data, next } = await listed(admin, `?limit=2${after}`);
      seen.push(...data.map(({ id }) => id));
      if (next === null) break;
      after = `&after=${encodeURIComponent(next)}`;
    }
    expect(seen.toSorted()).toEqual(ids.toSorted());
    expect((await listed(admin, "?model=test/video&state=running&project=default")).data.length).toBe(5);
    expect((await listed(admin, "?project=elsewhere")).data).toEqual([]);
    expect((await admin.ask("GET", "/api/operations?after=none", asAdmin)).status).toBe(400);
  });

  test("H24, H42: a cancelled operation ends once, with a receipt, and releases its reservation", async () => {
    const videos = await MemoryVideos.start({ polls: false });
    const admin = AdminHarness.over(videos.harness);
    const { id, name } = await videos.submit();
    const cancelled = await admin.ask("POST", `/api/operations/${id}/cancel`, asAdmin);
    expect([cancelled.status, cancelled.json["data"]]).toEqual([202, expect.objectContaining({ id, cancelled: true })]);
    videos.harness.poller.start();
    await videos.clock.pass(60_000);
    const [shown] = (await listed(admin)).data;
    expect(shown).toMatchObject({ id, name, state: "failed", cancelled: true });
    expect(shown?.error?.message).toBe("The operator of this gateway has cancelled this operation.");
    expect((await videos.harness.receipts()).map(({ cost_nano_usd }) => cost_nano_usd)).toEqual([0]);
    expect(videos.leftovers()).toEqual({});
    const again = await admin.ask("POST", `/api/operations/${id}/cancel`, asAdmin);
    expect([again.status, again.json["error"]]).toEqual([400, expect.objectContaining({ code: "operation_ended" })]);
  });

  test("one that does not exist is a 404", async () => {
    const admin = await AdminHarness.start();
    expect((await admin.ask("POST", "/api/operations/none/cancel", asAdmin)).status).toBe(404);
  });
});
