import { expect, test } from "bun:test";
import { ADMIN_SECRET, AdminHarness } from "../../../testing/admin-harness.ts";
import { plainAnswer, plainUsage } from "../../../testing/plain-answer.ts";
import { insertObject } from "../../storage/tables/objects.ts";

const asAdmin = { secret: ADMIN_SECRET };
const ANSWER = plainAnswer("chat", { text: "Kupfer", usage: plainUsage("chat", 1, 1) });
const RANDOM = "AbCdEfGhIjKlMnOpQrStU1";

/** A gateway with a private answer of a key of the project red. */
async function started() {
  const admin = await AdminHarness.start();
  for (const id of ["red", "blue"]) await admin.ask("POST", "/api/projects", { ...asAdmin, body: { id } });
  const body = { name: "k", project: "red", objects: "private" };
  const { id, key } = (await admin.ask("POST", "/api/keys", { ...asAdmin, body })).json["data"] as Record<
    string,
    string
  >;
  const { upstream } = admin.gateway;
  upstream.play(upstream.json(ANSWER));
  const stored = await admin.gateway.post("/v1/responses", { model: "test/chat", input: "Say it." }, key);
  return { admin, keyId: id ?? "", key: key ?? "", answer: (JSON.parse(stored.text) as { id: string }).id };
}

test("decision 0087: an operator deletes a private answer without reading it, and the act is recorded", async () => {
  const { admin, answer, key, keyId } = await started();
  const deleted = await admin.ask("DELETE", `/api/objects/${answer}`, asAdmin);
  expect(deleted.json).toEqual({
    data: { id: answer, kind: "response", project: "red", key: keyId, objects: "private" },
  });
  expect((await admin.gateway.ask("GET", `/v1/responses/${answer}`, key)).status).toBe(404);
  expect((await admin.ask("DELETE", `/api/objects/${answer}`, asAdmin)).status).toBe(404);
  const audit = await admin.ask("GET", `/api/audit?target=${answer}`, asAdmin);
  expect(audit.text).toContain("object.delete");
  expect(audit.text).not.toContain("Kupfer");
});

test("S09: an operator of another project finds no object, and one of the same project does", async () => {
  const { admin, answer } = await started();
  const [blue, red] = [await admin.operator("project", "blue"), await admin.operator("project", "red")];
  expect((await admin.ask("DELETE", `/api/objects/${answer}`, { secret: blue })).status).toBe(404);
  expect((await admin.ask("DELETE", `/api/objects/${answer}`, { secret: red })).status).toBe(200);
});

test("an object that a client created is deleted by its id in any form", async () => {
  const { admin, keyId } = await started();
  const object = { id: RANDOM, kind: "file", project: "red", keyId, share: "private", state: "uploaded" } as const;
  for (const form of [`file-${RANDOM}`, `file_${RANDOM}`]) {
    await insertObject(admin.gateway.storage, { ...object, size: 1, metadata: {}, createdAtMs: 0 });
    expect((await admin.ask("DELETE", `/api/objects/batch_${RANDOM}`, asAdmin)).status).toBe(404);
    const deleted = await admin.ask("DELETE", `/api/objects/${form}`, asAdmin);
    expect(deleted.json["data"]).toMatchObject({ id: form, kind: "file", project: "red" });
  }
});

test("decision 0087: an operator of a project cannot open the providers' accounts to its keys", async () => {
  const { admin, keyId } = await started();
  const secret = await admin.operator("project", "red");
  const created = await admin.ask("POST", "/api/keys", { secret, body: { name: "x", provider_objects: true } });
  expect([created.status, created.text]).toEqual([403, expect.stringContaining("provider_objects")]);
  const changed = await admin.ask("PATCH", `/api/keys/${keyId}`, { secret, body: { provider_objects: true } });
  expect(changed.status).toBe(403);
  expect((await admin.ask("PATCH", `/api/keys/${keyId}`, { secret, body: { objects: "project" } })).status).toBe(200);
  const byAdmin = await admin.ask("PATCH", `/api/keys/${keyId}`, { ...asAdmin, body: { provider_objects: true } });
  expect(byAdmin.json["data"]).toMatchObject({ provider_objects: true, objects: "project" });
  const refused = await admin.ask("PATCH", `/api/keys/${keyId}`, { ...asAdmin, body: { objects: "everyone" } });
  expect(refused.status).toBe(400);
});

test("decision 0109: an operator lists and deletes conversations and stored completions without reading them", async () => {
  const { admin, key, keyId } = await started();
  const { gateway } = admin;
  const user = (content: string) => ({ role: "user", content });
  const items = [user("The word is Kupfer.")];
  const conversation = JSON.parse((await gateway.post("/v1/conversations", { items }, key)).text) as { id: string };
  const body = { model: "test/chat", messages: items, store: true };
  const completion = JSON.parse((await gateway.post("/v1/chat/completions", body, key)).text) as { id: string };
  const listed = async (query: string) => {
    const { json, text } = await admin.ask("GET", `/api/objects${query}`, asAdmin);
    expect(text).not.toContain("Kupfer");
    return json["data"] as { id: string; kind: string }[];
  };
  for (const [kind, { id }] of Object.entries({ conversation, completion })) {
    expect(await listed(`?kind=${kind}`)).toEqual([
      expect.objectContaining({ id, kind, project: "red", key: keyId, objects: "private", bytes: expect.any(Number) }),
    ]);
  }
  expect((await listed("?project=red")).map(({ kind }) => kind).toSorted()).toEqual(["completion", "conversation"]);
  expect(await listed("?project=blue")).toEqual([]);
  const [first] = await listed("?limit=1");
  const { next } = (await admin.ask("GET", "/api/objects?limit=1", asAdmin)).json as { next: string };
  const [second] = await listed(`?limit=1&after=${next}`);
  expect(new Set([first?.id, second?.id])).toEqual(new Set([conversation.id, completion.id]));
  const blue = await admin.operator("project", "blue");
  for (const [kind, { id }] of Object.entries({ conversation, completion })) {
    expect((await admin.ask("DELETE", `/api/objects/${id}`, { secret: blue })).status).toBe(404);
    const deleted = await admin.ask("DELETE", `/api/objects/${id}`, asAdmin);
    expect(deleted.json["data"]).toMatchObject({ id, kind, project: "red" });
  }
  expect(await listed("")).toEqual([]);
  expect((await gateway.ask("GET", `/v1/conversations/${conversation.id}`, key)).status).toBe(404);
  expect((await gateway.ask("GET", `/v1/chat/completions/${completion.id}`, key)).status).toBe(404);
});
