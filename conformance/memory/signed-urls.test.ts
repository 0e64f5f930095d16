import { beforeEach, describe, expect, test } from "bun:test";
import { createKey, type KeyRequest, revokeKey, updateKey } from "../../src/access/keys.ts";
import { createProject, updateProject } from "../../src/access/projects.ts";
import type { Sources } from "../../src/base/sources.ts";
import { system } from "../../src/base/system.ts";
import { Harness, UPSTREAM_URL } from "../../testing/harness.ts";
import { modelsOfEveryDialect } from "../../testing/scripted-models.ts";
import type { ReadAnswer } from "../../testing/sent-call.ts";

const ACTOR = { who: "test" };

let harness: Harness;
let sources: Sources;
beforeEach(async () => {
  harness = await Harness.start({ config: modelsOfEveryDialect(UPSTREAM_URL) });
  sources = { clock: harness.clock, random: system.random };
  await createProject(harness.storage, { id: "team" }, sources, ACTOR);
});

interface Key {
  id: string;
  key: string;
}

async function keyFor(more: Partial<KeyRequest> = {}): Promise<Key> {
  const made = await createKey(harness.storage, { name: "signer", project: "team", ...more }, sources, ACTOR);
  await harness.gateway.keys.refresh();
  return made;
}

const content = "The bytes of the file.";

interface SignedUrl {
  /** Uses the URL without any credential. */
  use: () => Promise<ReadAnswer>;
  /** The bytes that have been uploaded. */
  uploaded: () => Promise<number>;
}

const uploaded = async (): Promise<number> => {
  const [row] = await harness.storage.query("SELECT COALESCE(SUM(size), 0) AS size FROM objects");
  return Number(row?.["size"]);
};

const URLS: Record<string, (key: Key) => Promise<SignedUrl>> = {
  "an upload": async ({ key }) => {
    const start = {
      authorization: `Bearer ${key}`,
      "x-goog-upload-protocol": "resumable",
      "x-goog-upload-command": "start",
      "x-goog-upload-header-content-length": String(100 * content.length),
      "x-goog-upload-header-content-type": "text/plain",
    };
    const begun = await harness.clock.until(harness.sendRaw("/upload/v1beta/files", "", start).answer);
    const url = begun.headers.get("x-goog-upload-url") ?? "";
    const use = async () => {
      const headers = { "x-goog-upload-command": "upload", "x-goog-upload-offset": String(await uploaded()) };
      return await harness.clock.until(harness.sendBare(url, content, headers).answer);
    };
    return { use, uploaded };
  },
  "a download": async ({ id }) => {
    const { files, clock } = harness.gateway;
    const kept = { project: "team", owner: "op_1", mimeType: "text/plain", content: Buffer.from(content) };
    const url = files.urlOf(await files.keep({ ...kept, nowMs: clock.nowMs() }), id);
    return { use: () => harness.get(url), uploaded };
  },
};

const codeOf = ({ text }: ReadAnswer) => (JSON.parse(text) as { error: { message: string } }).error.message;

describe("S26: a signed URL is a capability of its key, and ends with it", () => {
  const ENDS: Record<string, [number, (key: Key) => Promise<unknown>]> = {
    "was revoked": [401, ({ id }) => revokeKey(harness.storage, id, sources, ACTOR)],
    "has expired": [401, async () => await harness.clock.pass(120_000)],
    "belongs to a suspended project": [
      401,
      () => updateProject(harness.storage, "team", { status: "suspended" }, sources, ACTOR),
    ],
    "may be used from another network only": [
      403,
      ({ id }) => updateKey(harness.storage, id, { networks: ["10.0.0.0/8"] }, sources, ACTOR),
    ],
  };

  for (const [what, sign] of Object.entries(URLS)) {
    for (const [why, [status, end]] of Object.entries(ENDS)) {
      test(`${what}, of a key that ${why}`, async () => {
        const key = await keyFor({ expiresAtMs: harness.clock.wallMs() + 60_000 });
        const url = await sign(key);
        expect((await url.use()).status).toBe(200);
        const before = await url.uploaded();
        await end(key);
        await harness.gateway.keys.refresh();
        const refused = await url.use();
        expect([refused.status, await url.uploaded()]).toEqual([status, before]);
        expect(refused.text).not.toContain(content);
        expect(codeOf(refused)).toMatch(/API key|may not be used from/);
      });
    }

    test(`${what}, of a child of a key that was revoked`, async () => {
      const parent = await keyFor({ name: "parent", scopes: ["keys:create"] });
      const maker = harness.gateway.keys.current({ keyId: parent.id, project: "team" });
      if (maker === undefined) throw new Error("no parent");
      const url = await sign(await keyFor({ name: "child", maker }));
      expect((await url.use()).status).toBe(200);
      const before = await url.uploaded();
      await revokeKey(harness.storage, parent.id, sources, ACTOR);
      await harness.gateway.keys.refresh();
      expect([(await url.use()).status, await url.uploaded()]).toEqual([401, before]);
    });

    test(`${what}, of a key at this process alone that another has revoked`, async () => {
      const key = await keyFor();
      const url = await sign(key);
      harness.gateway.keys.hearRevoked(key.id);
      expect((await url.use()).status).toBe(401);
    });

    test(`${what} counts as a request of its key, and not beyond its limit`, async () => {
      const key = await keyFor({ limits: { requestsPerMinute: 3 } });
      const url = await sign(key);
      let served = 0;
      let last = await url.use();
      for (; last.status === 200 && served < 10; served++) last = await url.use();
      expect([last.status, served]).toEqual([429, what === "an upload" ? 2 : 3]);
      expect((await harness.ask("GET", "/v1/models", key.key)).status).toBe(429);
    });

    test(`${what} is shown as a use of its key`, async () => {
      const key = await keyFor();
      const url = await sign(key);
      await harness.gateway.keys.writeUsed();
      await harness.clock.pass(60_000);
      const usedAt = async () =>
        (await harness.storage.query("SELECT last_used_at_ms AS at FROM api_keys WHERE id = ?", [key.id]))[0]?.["at"];
      const before = await usedAt();
      expect((await url.use()).status).toBe(200);
      await harness.gateway.keys.writeUsed();
      expect(Number(await usedAt())).toBeGreaterThan(Number(before ?? 0));
    });
  }

  test("whoever has a key of the project needs no URL, and a URL does not work for another file", async () => {
    const key = await keyFor();
    const { files, clock } = harness.gateway;
    const kept = { project: "team", owner: "op_1", mimeType: "text/plain", content: Buffer.from(content) };
    const [one, other] = [
      await files.keep({ ...kept, nowMs: clock.nowMs() }),
      await files.keep({ ...kept, project: "default", nowMs: clock.nowMs() }),
    ];
    const url = files.urlOf(one, key.id);
    await revokeKey(harness.storage, key.id, sources, ACTOR);
    await harness.gateway.keys.refresh();
    const colleague = await keyFor({ name: "colleague" });
    const headers = { authorization: `Bearer ${colleague.key}` };
    expect((await harness.get(url, headers)).status).toBe(200);
    expect((await harness.get(url.replace(one.id, other.id), headers)).status).toBe(404);
    const signed = files.urlOf(one, colleague.id);
    expect((await harness.get(signed.replace(one.id, other.id))).status).toBe(404);
    expect((await harness.get(files.urlOf(other, colleague.id))).status).toBe(404);
  });
});
