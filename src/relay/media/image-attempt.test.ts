import { describe, expect, test } from "bun:test";
import type { Script } from "../../../testing/memory-network.ts";
import type { SentCall } from "../../../testing/sent-call.ts";
import { DEFAULT_ROUTING } from "../../routing/call-routing.ts";
import type { ImageTarget } from "../../routing/target.ts";
import { MAX_ORPHANS } from "../attempt/watched-attempt.ts";
import { ClientDisconnectedError, ClientPresence } from "../call.ts";
import { CallTimer } from "../settle/call-timer.ts";
import type { ImageRelay } from "./image-attempt.ts";
import { ImageAttempt } from "./image-attempt.ts";
import { answers, eventsIn, ImageGateway, PNG, PRICE_NANO_USD, refuses } from "./image-gateway.sample.ts";

const images = ImageGateway.forTests();
const event = (type: string, fields: object = {}) =>
  `event: ${type}\ndata: ${JSON.stringify({ type, b64_json: PNG, ...fields })}\n\n`;
const completed = event("image_generation.completed");
const partial = event("image_generation.partial_image", { partial_image_index: 0 });

const form = () => {
  const edit = new FormData();
  edit.set("model", "test/painter");
  edit.set("prompt", "a fox");
  edit.set("image", new File([Buffer.from(PNG, "base64")], "fox.png", { type: "image/png" }));
  return edit;
};
const conversation = (dialect: "chat" | "messages" | "genai", stream: boolean) => () =>
  images.harness.send(dialect, { model: "test/painter", stream });

/** Every way to ask for images. */
const WAYS: Readonly<Record<string, () => SentCall>> = {
  "images/generations": () => images.generate(),
  "images/generations, streamed": () => images.generate({ stream: true }),
  "images/edits": () => images.harness.sendForm("/api/v1/images/edits", form()),
  ":predict": () =>
    images.harness.sendPost("/api/genai/v1/publishers/test/models/painter:predict", {
      instances: [{ prompt: "a fox" }],
    }),
  chat: conversation("chat", false),
  "chat, streamed": conversation("chat", true),
  messages: conversation("messages", false),
  "messages, streamed": conversation("messages", true),
  generateContent: conversation("genai", false),
  streamGenerateContent: conversation("genai", true),
};

/** A host that takes thirty seconds: long enough for the headers of a stream to leave before. */
const slow: Script = async (reply, request) => {
  await images.harness.clock.sleep(30_000);
  if ((JSON.parse(request.body.startsWith("{") ? request.body : "{}") as { stream?: boolean }).stream) {
    return images.harness.upstream.stream(completed)(reply, request);
  }
  return answers({ created: 1, data: [{ b64_json: PNG }] })(reply, request);
};

describe("H26: a client that disconnects pays for what the provider generates", () => {
  for (const [name, ask] of Object.entries(WAYS)) {
    // Where the protocol has keep-alives, the headers of a stream are sent before its image.
    for (const afterMs of name.endsWith(", streamed") ? [5_000, 15_000] : [5_000]) {
      test(`${name}: after ${afterMs} ms`, async () => {
        images.play(slow);
        const call = ask();
        await images.pass(afterMs);
        call.disconnect();
        await images.pass(100);
        expect(images.harness.gateway.orphanedImages).toBe(1);
        expect(images.harness.upstream.open).toBe(1);
        await images.pass(30_000);
        expect(images.harness.upstream.requests).toHaveLength(1);
        expect(await images.rows()).toMatchObject([
          { outcome: "client_gone", usage_source: "measured", usage_images: 1, cost_nano_usd: PRICE_NANO_USD },
        ]);
      });
    }
  }

  test("after a partial image pays for the whole one", async () => {
    images.play(images.harness.upstream.stream(1_000, partial, 5_000, completed));
    const call = images.generate({ stream: true, partial_images: 1 });
    await images.pass(2_000);
    expect(eventsIn(call.text)).toHaveLength(1);
    call.disconnect();
    await images.pass(10_000);
    expect(await images.rows()).toMatchObject([
      { outcome: "client_gone", usage_source: "measured", usage_images: 1, stream: 1 },
    ]);
  });

  test("pays nothing if the provider then fails, and no other offer is tried", async () => {
    images.play(async (reply, request) => {
      await images.harness.clock.sleep(1_000);
      return refuses(500)(reply, request);
    });
    const call = images.generate({ model: "test/two" });
    await images.pass(500);
    call.disconnect();
    await images.pass(5_000);
    expect(images.sent).toHaveLength(1);
    expect(await images.rows()).toMatchObject([{ outcome: "client_gone", usage_images: null, cost_nano_usd: 0 }]);
  });

  test("with ten images generated one by one pays for those that were started; no more are started", async () => {
    images.play(images.paints(1_000));
    const call = images.generate({ model: "test/one-by-one", n: 10 });
    await images.pass(500);
    call.disconnect();
    await images.pass(5_000);
    expect(images.sent).toHaveLength(5);
    expect(await images.rows()).toMatchObject([
      { outcome: "client_gone", usage_source: "measured", usage_images: 5, cost_nano_usd: 5 * PRICE_NANO_USD },
    ]);
  });

  test("between two tries pays nothing, and nothing is begun for it", async () => {
    images.play(refuses(500), images.paints());
    const call = images.generate();
    await images.pass(50);
    call.disconnect();
    await images.pass(5_000);
    expect(images.sent).toHaveLength(1);
    expect(await images.rows()).toMatchObject([{ outcome: "client_gone", cost_nano_usd: 0 }]);
  });

  test("between two attempts pays nothing, although no more work may continue without its client", async () => {
    images.harness.gateway.orphanedImages += MAX_ORPHANS.orphanedImages;
    images.play(refuses(500), images.paints());
    const call = images.generate();
    await images.pass(50);
    call.disconnect();
    await images.pass(5_000);
    images.harness.gateway.orphanedImages -= MAX_ORPHANS.orphanedImages;
    expect(images.sent).toHaveLength(1);
    expect(await images.rows()).toMatchObject([{ outcome: "client_gone", usage_images: null, cost_nano_usd: 0 }]);
  });

  test("while its inputs are fetched pays nothing, and no provider is called", async () => {
    images.harness.web.files.set("https://web.test/slow.png", {
      bytes: Buffer.from(PNG, "base64"),
      mimeType: "image/png",
      ms: 5_000,
    });
    images.play(images.paints());
    const body = { model: "test/painter", prompt: "a fox", images: [{ image_url: "https://web.test/slow.png" }] };
    const call = images.harness.sendPost("/api/v1/images/edits", body);
    await images.pass(1_000);
    call.disconnect();
    await images.pass(10_000);
    expect(images.harness.upstream.requests).toEqual([]);
    expect(await images.rows()).toMatchObject([{ outcome: "client_gone", cost_nano_usd: 0 }]);
  });

  test("beyond the limit ends its provider's work, and pays the expected cost of the image", async () => {
    images.play(images.paints(10_000));
    const calls = Array.from({ length: MAX_ORPHANS.orphanedImages + 2 }, () => images.generate());
    await images.pass(1_000);
    for (const call of calls) call.disconnect();
    await images.pass(100);
    expect([images.harness.gateway.orphanedImages, images.harness.upstream.open]).toEqual([
      MAX_ORPHANS.orphanedImages,
      MAX_ORPHANS.orphanedImages,
    ]);
    const cut = { outcome: "client_gone", usage_source: "partial", usage_images: 1, cost_nano_usd: PRICE_NANO_USD };
    expect(await images.rows()).toMatchObject([cut, cut]);
    await images.pass(10_000);
    const rows = await images.rows();
    expect(rows).toHaveLength(MAX_ORPHANS.orphanedImages);
    expect(new Set(rows.map(({ usage_source }) => usage_source))).toEqual(new Set(["measured"]));
  });

  test("beyond the limit, after one of its images, pays for that one and for the others as expected", async () => {
    images.harness.gateway.orphanedImages += MAX_ORPHANS.orphanedImages;
    images.play(images.harness.upstream.openStream(completed));
    const call = images.generate({ stream: true, n: 3 });
    await images.pass(1_000);
    expect(eventsIn(call.text)).toHaveLength(1);
    call.disconnect();
    await images.pass(100);
    images.harness.gateway.orphanedImages -= MAX_ORPHANS.orphanedImages;
    expect(await images.rows()).toMatchObject([
      { outcome: "client_gone", usage_source: "partial", usage_images: 3, cost_nano_usd: 3 * PRICE_NANO_USD },
    ]);
  });
});

describe("an attempt", () => {
  /** One that nothing was sent for yet. */
  const attempt = () => {
    const { gateway } = images.harness;
    const disconnection = new AbortController();
    const connection = { address: "127.0.0.1", trusted: false, hold: () => {}, rest: () => {}, hangUp: () => {} };
    const request = new Request("http://gateway.test/", { signal: disconnection.signal });
    const client = new ClientPresence(request, connection, gateway.watchdog);
    const startedAtMs = gateway.clock.nowMs();
    const timer = new CallTimer(gateway.clock.nowMs, startedAtMs);
    const call = { client, startedAtMs, timer, routing: DEFAULT_ROUTING, request: { notes: [] } };
    const begun = new ImageAttempt(call as unknown as ImageRelay, gateway, {} as ImageTarget);
    return { begun, client };
  };

  test("is ended by a disconnect before its provider was called", () => {
    const { begun, client } = attempt();
    client.markDisconnected();
    expect([begun.signal.aborted, begun.abandonedImages]).toEqual([true, 0]);
    expect(begun.signal.reason).toBeInstanceOf(ClientDisconnectedError);
    expect(() => begun.begin(1)).toThrow(ClientDisconnectedError);
    begun.close();
    client.release();
  });

  test("ends its requests when it is closed, and is closed once", () => {
    const { begun, client } = attempt();
    begun.begin(2);
    begun.close();
    // It may still be told where another one's end has closed it meanwhile.
    begun.clientDisconnected();
    client.markDisconnected();
    expect([begun.signal.aborted, begun.abandonedImages]).toEqual([true, 0]);
    expect(images.harness.gateway.orphanedImages).toBe(0);
    client.release();
  });

  test("notifies a waiter of its end once", () => {
    const { begun, client } = attempt();
    const told: string[] = [];
    begun.whenEnded(() => told.push("at its end"));
    expect(told).toEqual([]);
    begun.finish();
    begun.close();
    begun.whenEnded(() => told.push("at once"));
    expect(told).toEqual(["at its end", "at once"]);
    client.release();
  });
});

describe("a deadline that the caller set", () => {
  const hurried = ImageGateway.forTests({ config: { routing: { deadline_ms: 5_000 } } });

  test("ends the work, and no other offer is tried; the requested images may exist and are billed as estimated", async () => {
    hurried.play(() => {});
    const answer = await hurried.generated({ model: "test/two", n: 2 });
    expect([answer.status, answer.endMs, hurried.sent.length]).toEqual([504, 5_000, 1]);
    expect(answer.error?.message).toContain("deadline of 5000 ms");
    expect(hurried.harness.upstream.replies[0]?.closedAtMs).toBeDefined();
    expect(await hurried.rows()).toMatchObject([
      { outcome: "upstream_timeout", usage_source: "partial", usage_images: 2, cost_nano_usd: 2 * PRICE_NANO_USD },
    ]);
  });

  test("ends a stream with an error after the images that were ready in time", async () => {
    hurried.play(hurried.harness.upstream.stream(1_000, partial, 10_000, completed));
    const { text, endMs } = await hurried.harness.clock.until(
      hurried.generate({ stream: true, partial_images: 1 }).answer,
    );
    expect(eventsIn(text).map(({ type }) => type)).toEqual(["image_generation.partial_image", "error"]);
    expect(endMs).toBe(5_000);
  });

  test("does not affect an image that is ready in time", async () => {
    hurried.play(hurried.paints(1_000));
    expect((await hurried.generated()).made).toEqual([PNG]);
    await hurried.pass(300);
    // Nothing waits for it any more.
    expect(hurried.harness.clock.timers).toBe(0);
    expect(await hurried.rows()).toMatchObject([{ outcome: "ok" }]);
  });
});

describe("H26, choices 7: shutting down", () => {
  const closing = async (work: () => Promise<void>) => {
    images.harness.gateway.closing = true;
    await work();
    images.harness.gateway.closing = false;
  };

  test("an image whose client has disconnected is aborted, and billed at its expected cost", async () => {
    images.play(images.paints(10_000));
    const call = images.generate({ n: 2 });
    await images.pass(1_000);
    call.disconnect();
    await images.pass(1_000);
    await closing(() => images.pass(200));
    expect(images.harness.upstream.open).toBe(0);
    expect(await images.rows()).toMatchObject([
      { outcome: "client_gone", usage_source: "partial", usage_images: 2, cost_nano_usd: 2 * PRICE_NANO_USD },
    ]);
  });

  test("one whose client disconnects now is not continued", async () => {
    images.play(images.paints(10_000));
    const call = images.generate();
    await images.pass(1_010);
    await closing(async () => {
      call.disconnect();
      await images.pass(0);
      expect([images.harness.gateway.orphanedImages, images.harness.upstream.open]).toEqual([0, 0]);
    });
    expect(await images.rows()).toMatchObject([{ outcome: "client_gone", usage_source: "partial" }]);
  });

  for (const [name, ask] of Object.entries(WAYS)) {
    test(`${name}: a client that is still connected gets an error in its own protocol, and pays nothing`, async () => {
      images.play(() => {});
      const call = ask();
      await images.pass(15_000);
      await closing(async () => {
        const { status, text } = await images.harness.clock.until(call.answer);
        expect(status).toBe(name.endsWith(", streamed") ? 200 : name === "messages" ? 529 : 503);
        expect(text).toContain("This gateway is shutting down");
      });
      expect(await images.rows()).toMatchObject([{ outcome: "overloaded", usage_images: null, cost_nano_usd: 0 }]);
    });
  }
});
