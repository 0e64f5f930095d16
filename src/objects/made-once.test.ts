import { expect, test } from "bun:test";
import { openMemoryStorage } from "../../testing/memory-storage.ts";
import { system } from "../base/system.ts";
import { Batches } from "../batches/batches.ts";
import type { Storage } from "../storage/storage.ts";
import type { ObjectOwner } from "./made-once.ts";
import type { Objects } from "./objects.ts";

test("choices 5: a batch whose COMMIT was not answered is found by the repetition, and is the only one", async () => {
  const storage = await openMemoryStorage(system.clock);
  let isLost = true;
  const losing: Storage = {
    engine: "sqlite",
    query: (...asked) => storage.query(...asked),
    runForEach: (...asked) => storage.runForEach(...asked),
    changeStamp: () => storage.changeStamp(),
    close: () => storage.close(),
    transaction: async (...asked) => {
      const result = await storage.transaction(...asked);
      if (!isLost) return result;
      isLost = false;
      throw new Error("the connection was closed");
    },
  };
  const limits = { maxFileBytes: 1_000, maxProjectBytes: 1_000 };
  const content = { remove: async () => {} };
  const batches = new Batches({ ...system, storage: losing, objects: {} as Objects, limits, content });
  const owner: ObjectOwner = { project: "default", keyId: "key_1", share: "project", once: "a digest" };
  const asked = { form: "chat", endpoint: "/v1/chat/completions", window: "1h", windowMs: 3_600_000, inputId: "in" };
  await expect(batches.create(owner, asked)).rejects.toThrow("the connection was closed");
  const found = await batches.create(owner, asked);
  expect((await batches.create(owner, asked)).id).toBe(found.id);
  expect(await storage.query("SELECT id FROM batches")).toEqual([{ id: found.id }]);
  await expect(batches.create(owner, { ...asked, endpoint: "/v1/responses" })).rejects.toThrow("already used");
  await storage.close();
});
