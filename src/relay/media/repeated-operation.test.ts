import { describe, expect, test } from "bun:test";
import type { Script } from "../../../testing/memory-network.ts";
import { KEYS, MemoryVideos } from "../../../testing/memory-videos.ts";
import { errorIn } from "../../../testing/sent-call.ts";

const keyed = (key: string) => ({ headers: { "idempotency-key": key } });
const HOUR_MS = 3_600_000;

const answering =
  (status: number): Script =>
  (reply) => {
    reply.head(status);
    void reply.write("{}");
    reply.end();
  };

describe("choices 5: the same Idempotency-Key", () => {
  test("with the same body is the same operation, while it runs and when it has ended", async () => {
    const videos = await MemoryVideos.start();
    const first = await videos.submit(keyed("a"));
    expect((await videos.submit(keyed("a"))).name).toBe(first.name);
    await videos.ended(first.id);
    const again = await videos.submit(keyed("a"));
    expect([again.name, again.headers.get("x-trivium-receipt")]).toEqual([
      first.name,
      first.headers.get("x-trivium-receipt"),
    ]);
    expect(videos.host.jobs).toHaveLength(1);
    expect((await videos.submit(keyed("b"))).name).not.toBe(first.name);
  });

  test("with another body is rejected, and by its name", async () => {
    const videos = await MemoryVideos.start();
    await videos.submit(keyed("a"));
    const other = await videos.submit({ prompt: "another", ...keyed("a") });
    expect([other.status, videos.host.jobs.length]).toEqual([400, 1]);
    expect(errorIn(other).message).toContain("Idempotency-Key was already used with a different body");
  });

  test("of another project is another key", async () => {
    const videos = await MemoryVideos.start();
    const ours = await videos.submit(keyed("a"));
    const theirs = await videos.submit({ ...keyed("a"), key: KEYS.stranger });
    expect([theirs.status, theirs.id === ours.id]).toEqual([200, false]);
    expect(videos.host.jobs).toHaveLength(2);
  });

  test("with another model is another request", async () => {
    const videos = await MemoryVideos.start();
    await videos.submit(keyed("a"));
    expect((await videos.submit({ ...keyed("a"), model: "test/two" })).status).toBe(400);
  });

  test("an empty key is ignored", async () => {
    const videos = await MemoryVideos.start();
    const [first, second] = [await videos.submit(keyed("")), await videos.submit(keyed(""))];
    expect(first.name).not.toBe(second.name);
  });

  test("is remembered for a day, and free afterwards", async () => {
    const videos = await MemoryVideos.start({ polls: false });
    const first = await videos.submit(keyed("a"));
    await videos.clock.pass(24 * HOUR_MS - 1);
    expect((await videos.submit(keyed("a"))).name).toBe(first.name);
    await videos.clock.pass(2);
    const next = await videos.submit(keyed("a"));
    expect([next.status, next.name === first.name]).toEqual([200, false]);
    expect((await videos.submit(keyed("a"))).name).toBe(next.name);
  });

  test("during the first submit a repetition gets its name, with what was dropped, and nothing is sent twice", async () => {
    const videos = await MemoryVideos.start();
    const asked = { ...keyed("a"), parameters: { negativePrompt: "blur" } };
    videos.host.nextSubmits.push(async (reply, request) => {
      const { id } = videos.host.take(request);
      await videos.clock.sleep(5_000);
      videos.harness.upstream.json({ id })(reply, request);
    });
    const first = videos.send(asked);
    await videos.clock.pass(1_000);
    const during = await videos.submit(asked);
    expect((await videos.submit({ ...asked, prompt: "another" })).status).toBe(400);
    const { text, headers } = await videos.clock.until(first.answer);
    const after = await videos.submit(asked);
    expect([during.text, after.text]).toEqual([text, text]);
    const dropped = [headers, during.headers, after.headers].map((one) => one.get("x-trivium-dropped"));
    expect(dropped).toEqual(Array.from({ length: 3 }, () => "parameters.negativePrompt"));
    expect(videos.host.jobs).toHaveLength(1);
  });

  test("of many concurrent submits one is sent; the others get its name or are asked to wait", async () => {
    const videos = await MemoryVideos.start();
    const sent = Array.from({ length: 8 }, () => videos.send(keyed("a")).answer);
    const answers = await videos.clock.until(Promise.all(sent));
    const names = new Set(answers.filter(({ status }) => status === 200).map(({ text }) => text));
    expect([names.size, videos.host.jobs.length]).toEqual([1, 1]);
    const waiting = answers.filter(({ status }) => status !== 200);
    expect(waiting.length).toBeGreaterThan(0);
    for (const { status, headers } of waiting) expect([status, headers.get("retry-after")]).toEqual([429, "2"]);
  });

  test("is answered though the link to its frame has died since", async () => {
    const videos = await MemoryVideos.start();
    const url = "https://images.test/a.png";
    const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
    videos.harness.web.files.set(url, { bytes: Buffer.from(PNG, "base64"), mimeType: "image/png" });
    const asked = { ...keyed("a"), image: { gcsUri: url } };
    const first = await videos.send(asked).answer;
    expect(first.status).toBe(200);
    videos.harness.web.files.clear();
    expect((await videos.submit(asked)).text).toBe(first.text);
  });

  test("decision 0014: is free again where its host has refused it: nothing was made", async () => {
    const videos = await MemoryVideos.start();
    const refused = answering(400);
    videos.host.nextSubmits.push(refused, refused);
    expect((await videos.submit(keyed("a"))).status).toBe(400);
    expect((await videos.submit(keyed("a"))).status).toBe(400);
    expect((await videos.submit(keyed("a"))).status).toBe(200);
  });

  const breaks: Script = (reply) => reply.fail("broken");
  const cut: Script = (reply) => {
    reply.head(200);
    void reply.write("{");
    reply.fail("broken");
  };
  const doubtful: [string, Script, RegExp][] = [
    ["whose connection broke", breaks, /^Provider `one` closed the connection/],
    ["whose answer broke off", cut, /^Provider `one` closed the connection/],
    ["whose success names no job", answering(200), /^Provider `one`'s response does not contain the name of a job\.$/],
  ];
  test.each(doubtful)(
    "decision 0014: stays with a submit %s: it is the operation that failed",
    async (_, loss, message) => {
      const videos = await MemoryVideos.start();
      videos.host.nextSubmits.push(loss);
      const first = await videos.submit(keyed("a"));
      expect(first.status).toBe(502);
      for (let again = 0; again < 2; again += 1) {
        const repeated = await videos.submit(keyed("a"));
        const receipts = [first, repeated].map(({ headers }) => headers.get("x-trivium-receipt"));
        expect([repeated.status, receipts[1]]).toEqual([200, receipts[0] ?? ""]);
        const { done, error } = await videos.poll(repeated.name);
        expect([done, error?.code]).toEqual([true, 14]);
        expect(error?.message).toMatch(message);
      }
      expect(videos.harness.upstream.requests).toHaveLength(1);
      // A client takes the risk by sending a new key.
      expect((await videos.submit(keyed("b"))).status).toBe(200);
      expect(videos.harness.upstream.requests).toHaveLength(2);
    },
  );
});

describe("H24: the same request without a key, from a client that never heard the name", () => {
  /** A client leaves while its job is submitted; the host accepts it. */
  async function lose(videos: MemoryVideos): Promise<void> {
    const answered = Promise.withResolvers<void>();
    videos.host.nextSubmits.push(async (reply, request) => {
      const { id } = videos.host.take(request);
      await answered.promise;
      videos.harness.upstream.json({ id })(reply, request);
    });
    const lost = videos.send();
    await videos.clock.pass(100);
    lost.disconnect();
    await videos.clock.pass(100);
    answered.resolve();
    await videos.clock.pass(100);
  }

  test("is its operation within ten minutes, and a new one after them", async () => {
    const soon = await MemoryVideos.start({ polls: false });
    await lose(soon);
    await soon.clock.pass(599_000);
    expect((await soon.submit()).status).toBe(200);
    expect(soon.host.jobs).toHaveLength(1);

    const late = await MemoryVideos.start({ polls: false });
    await lose(late);
    await late.clock.pass(600_000);
    expect((await late.submit()).status).toBe(200);
    expect(late.host.jobs).toHaveLength(2);
  });

  test("of another key is independent", async () => {
    const videos = await MemoryVideos.start();
    await lose(videos);
    await videos.submit({ key: KEYS.strict });
    expect(videos.host.jobs).toHaveLength(2);
  });

  test("H30: repetition is decided by the stored time, even if the clock was changed", async () => {
    const videos = await MemoryVideos.start();
    await lose(videos);
    videos.clock.stepWall(-HOUR_MS);
    await videos.submit();
    expect(videos.host.jobs).toHaveLength(1);
  });
});
