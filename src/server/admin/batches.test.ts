import { expect, test } from "bun:test";
import { ADMIN_SECRET, AdminHarness } from "../../../testing/admin-harness.ts";
import { insertBatch } from "../../storage/tables/batches.ts";
import { insertObject } from "../../storage/tables/objects.ts";

const asAdmin = { secret: ADMIN_SECRET };
const ID = "batch_AbCdEfGhIjKlMnOpQrStU1";

test("S09: an operator of another project neither finds nor cancels a batch, and one of the same project does", async () => {
  const admin = await AdminHarness.start();
  for (const id of ["red", "blue"]) await admin.ask("POST", "/api/projects", { ...asAdmin, body: { id } });
  const { storage, clock } = admin.gateway;
  const id = ID.slice("batch_".length);
  const createdAtMs = clock.wallMs();
  const owned = { id, kind: "batch", project: "red", keyId: "key_1", share: "private" } as const;
  const metadata = { window: "24h", at: { in_progress: createdAtMs } };
  await insertObject(storage, { ...owned, state: "in_progress", size: 0, metadata, createdAtMs });
  await insertBatch(storage, { id, form: "messages", endpoint: "/v1/messages", deadlineAtMs: createdAtMs + 1_000 });
  const [blue, red] = [await admin.operator("project", "blue"), await admin.operator("project", "red")];
  const idsOf = async (secret: string) =>
    ((await admin.ask("GET", "/api/batches", { secret })).json["data"] as { id: string }[]).map((batch) => batch.id);
  expect([await idsOf(blue), await idsOf(red)]).toEqual([[], [ID]]);
  expect((await admin.ask("GET", "/api/batches?project=red", { secret: blue })).status).toBe(403);
  expect((await admin.ask("GET", `/api/batches/${ID}`, { secret: blue })).status).toBe(404);
  expect((await admin.ask("POST", `/api/batches/${ID}/cancel`, { secret: blue })).status).toBe(404);
  const shown = await admin.ask("GET", `/api/batches/${ID}`, { secret: red });
  expect(shown.json["data"]).toMatchObject({ id: ID, state: "in_progress", dialect: "messages", objects: "private" });
  const cancelled = await admin.ask("POST", `/api/batches/${ID}/cancel`, { secret: red });
  expect([cancelled.status, cancelled.json["data"]]).toEqual([202, expect.objectContaining({ state: "cancelling" })]);
  const audit = await admin.ask("GET", `/api/audit?target=${ID}`, asAdmin);
  expect(audit.json["data"]).toEqual([expect.objectContaining({ act: "batch.cancel", project: "red" })]);
});
