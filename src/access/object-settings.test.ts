import { beforeEach, describe, expect, test } from "bun:test";
import { openMemoryStorage } from "../../testing/memory-storage.ts";
import { system } from "../base/system.ts";
import type { Storage } from "../storage/storage.ts";
import { KeyRing } from "./key-ring.ts";
import { createKey, type KeyRequest, updateKey } from "./keys.ts";
import type { Principal } from "./principal.ts";
import { createProject, findProject, projectView, updateProject } from "./projects.ts";

const ACTOR = { who: "test" };

let storage: Storage;
let ring: KeyRing;

beforeEach(async () => {
  storage = await openMemoryStorage(system.clock);
  ring = await KeyRing.open({ ...system, storage, staticKeys: [] });
});

const make = async (request: Partial<KeyRequest> = {}) => {
  const made = await createKey(storage, { name: "k", project: "red", ...request }, system, ACTOR);
  await ring.refresh();
  return made;
};

const principal = (key: string): Principal => ring.authenticate(key, { address: "127.0.0.1" });

/** Whether it may name providers' objects, and whether what it stores is private. */
const mayAndHides = (key: string): [boolean, boolean] => {
  const { providerObjects = false, privateObjects = false } = principal(key);
  return [providerObjects, privateObjects];
};

describe("decision 0087: provider_objects and objects", () => {
  test("a key cannot name objects of a provider, and shares what it stores, unless set otherwise", async () => {
    expect(mayAndHides((await make()).key)).toEqual([false, false]);
    expect(mayAndHides((await make({ providerObjects: true, objects: "private" })).key)).toEqual([true, true]);
  });

  test("a project's permission applies to all of its keys, and so does its privacy", async () => {
    await createProject(storage, { id: "red", providerObjects: true, objects: "private" }, system, ACTOR);
    const { key } = await make({ objects: "project" });
    expect(mayAndHides(key)).toEqual([true, true]);
    await updateProject(storage, "red", { providerObjects: false, objects: "project" }, system, ACTOR);
    await ring.refresh();
    expect(mayAndHides(key)).toEqual([false, false]);
  });

  test("an update keeps the fields that it does not name, of a key and of a project", async () => {
    await createProject(storage, { id: "red", providerObjects: true, objects: "private" }, system, ACTOR);
    const changed = await updateProject(storage, "red", { name: "Red" }, system, ACTOR);
    expect(projectView(changed)).toMatchObject({ name: "Red", provider_objects: true, objects: "private" });
    expect(await findProject(storage, "red")).toEqual(changed);
    const { id } = await make({ providerObjects: true, objects: "private" });
    const kept = await updateKey(storage, id, { name: "renamed" }, system, ACTOR);
    expect([kept.providerObjects, kept.objects]).toEqual([true, "private"]);
    const { providerObjects, objects } = await updateKey(
      storage,
      id,
      { providerObjects: false, objects: null },
      system,
      ACTOR,
    );
    expect([providerObjects, objects]).toEqual([undefined, undefined]);
  });

  test("S05: a child key is private by default, and loses what its parent loses", async () => {
    const { id, key } = await make({ providerObjects: true, scopes: ["keys:create"] });
    const child = await make({ maker: principal(key), providerObjects: true });
    const sharing = await make({ maker: principal(key), objects: "project" });
    expect(mayAndHides(child.key)).toEqual([true, true]);
    expect(mayAndHides(sharing.key)).toEqual([false, false]);
    await updateKey(storage, id, { providerObjects: false }, system, ACTOR);
    await ring.refresh();
    expect(mayAndHides(child.key)).toEqual([false, true]);
    const gain = updateKey(storage, sharing.id, { providerObjects: true }, system, ACTOR);
    await expect(gain).rejects.toMatchObject({ kind: "forbidden", path: "provider_objects" });
  });

  test("S05: a child key keeps what the project allows its parent through other changes", async () => {
    await createProject(storage, { id: "red", providerObjects: true }, system, ACTOR);
    const { key } = await make({ scopes: ["keys:create"] });
    const child = await make({ maker: principal(key), providerObjects: true });
    expect((await updateKey(storage, child.id, { name: "renamed" }, system, ACTOR)).providerObjects).toBe(true);
  });
});
