import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { digestOf } from "../../src/relay/media/repeated-operation.ts";
import { TEST_KEY } from "../../testing/test-key.ts";
import { type HeldVideoHost, startHeldVideoHost } from "./held-video-host.ts";
import { BUDGET_USD, idOf, KEYS, startVideoHarness, until, type VideoHarness } from "./video-harness.ts";

const UPSTREAM_MODEL = "doubao-seedance-1-5-pro-251215";
const SECONDS = 4;
const LONG_MS = 60_000;

const pricesOf = (usdPerSecond: number) => {
  const prices = [{ value: usdPerSecond, unit: "perSecond", currency: "USD" }];
  return { video: prices, audio_and_video: prices };
};
const CHEAP = 0.001;
/** One video is within the budget, two are not. */
const HALF = (0.8 * BUDGET_USD) / SECONDS;
const EXPENSIVE = (2 * BUDGET_USD) / SECONDS;

const ANSWERS = {
  cut: "HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\n{",
  unread: "HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}",
  refused: "HTTP/1.1 400 Bad Request\r\ncontent-length: 2\r\nconnection: close\r\n\r\n{}",
};

/** A host with three answers to a submit: one breaks off, one names no job, and one is a refusal. */
function startLosingHost() {
  let posts = 0;
  let loss: keyof typeof ANSWERS = "cut";
  const server = Bun.listen({
    port: 0,
    hostname: "127.0.0.1",
    socket: {
      data(socket, bytes) {
        if (!bytes.toString().startsWith("POST ")) return;
        posts += 1;
        socket.end(ANSWERS[loss]);
      },
    },
  });
  return {
    url: `http://127.0.0.1:${server.port}`,
    posts: () => posts,
    lose: (how: typeof loss) => {
      loss = how;
    },
    stop: () => server.stop(true),
  };
}

let held: HeldVideoHost;
let losing: ReturnType<typeof startLosingHost>;
let harness: VideoHarness;

beforeAll(async () => {
  held = startHeldVideoHost();
  losing = startLosingHost();
  const upstream = (base_url: string) => ({ kind: "volcengine", base_url, api_key: "secret" });
  const model = (id: string, usdPerSecond: number, offers: object[]) => ({
    id,
    output_modalities: ["video"],
    pricings: pricesOf(usdPerSecond),
    offers: offers.map((offer) => ({ model: UPSTREAM_MODEL, ...offer })),
  });
  const [atCheap, atHalf, atExpensive] = [CHEAP, HALF, EXPENSIVE].map((usd) => ({
    provider: "held",
    pricings: pricesOf(usd),
  }));
  harness = await startVideoHarness({
    providers: { held: upstream(held.url), losing: upstream(losing.url), other: upstream(held.url) },
    models: [
      model("held/video", CHEAP, [{ provider: "held" }]),
      model("losing/video", CHEAP, [{ provider: "losing" }]),
      model("own/half", CHEAP, [{ ...atHalf }]),
      model("own/expensive", CHEAP, [{ ...atExpensive }]),
      model("own/cheap-then-expensive", CHEAP, [{ ...atCheap }, { ...atExpensive, provider: "other" }]),
      model("own/cheaper-offer", EXPENSIVE, [{ ...atCheap }]),
    ],
  });
});
afterEach(() => held.finish(true));
afterAll(async () => {
  await harness.stop();
  losing.stop();
  await held.stop();
});

interface Submitting {
  model: string;
  prompt: string;
  image?: object;
  parameters?: object;
  /** The Idempotency-Key. */
  under?: string;
  key?: string;
}

const textOf = ({ prompt, image, parameters }: Submitting) =>
  JSON.stringify({
    instances: [{ prompt, ...(image ? { image } : {}) }],
    parameters: { durationSeconds: SECONDS, ...parameters },
  });

function submit(submitting: Submitting): Promise<Response> {
  const { model, under, key = TEST_KEY } = submitting;
  const path = `publishers/${model.replace("/", "/models/")}:predictLongRunning`;
  return fetch(`${harness.gateway.url}/api/genai/v1/${path}`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${key}`,
      "content-type": "application/json",
      ...(under === undefined ? {} : { "idempotency-key": under }),
    },
    body: textOf(submitting),
  });
}

const nameIn = async (response: Response): Promise<string> => ((await response.json()) as { name: string }).name;

async function polled(name: string): Promise<{ done?: boolean; error?: { message: string } }> {
  const path = `${name.split("/operations/")[0]}:fetchPredictOperation`;
  const response = await fetch(`${harness.gateway.url}/api/genai/v1/${path}`, {
    method: "POST",
    headers: { authorization: `Bearer ${TEST_KEY}`, "content-type": "application/json" },
    body: JSON.stringify({ operationName: name }),
  });
  return (await response.json()) as { done?: boolean };
}

const receiptIdOf = (response: Response) => response.headers.get("x-trivium-receipt");

describe("decision 0014: a submit that may have arrived is not sent twice", () => {
  for (const [what, loss, message] of [
    ["whose connection broke", "cut", /^Provider `\S+` broke off the connection/],
    ["whose success names no job", "unread", /^Provider `\S+` answered without the name of a job\.$/],
  ] as const) {
    test(`choices 5: one ${what}, under the same Idempotency-Key again, is the operation that failed`, async () => {
      losing.lose(loss);
      const before = losing.posts();
      const request = { model: "losing/video", prompt: loss, under: `doubt-${loss}` };
      const first = await submit(request);
      expect(first.status).toBe(502);
      for (let again = 0; again < 2; again += 1) {
        const repeated = await submit(request);
        expect({ status: repeated.status, receipt: receiptIdOf(repeated) }).toEqual({
          status: 200,
          receipt: receiptIdOf(first),
        });
        expect(await polled(await nameIn(repeated))).toMatchObject({
          done: true,
          error: { message: expect.stringMatching(message) },
        });
      }
      expect(losing.posts() - before).toBe(1);
      // A client takes the risk by sending a new key.
      expect((await submit({ ...request, under: `risk-${loss}` })).status).toBe(502);
      expect(losing.posts() - before).toBe(2);
    });
  }

  test("one that the host refused made nothing: the same key may try again", async () => {
    losing.lose("refused");
    const before = losing.posts();
    const request = { model: "losing/video", prompt: "refused", under: "refused" };
    expect((await submit(request)).status).toBe(400);
    expect((await submit(request)).status).toBe(400);
    expect(losing.posts() - before).toBe(2);
  });
});

describe("choices 5: the repetition of a submit", () => {
  test("is the same answer even if the link to its frame has died since", async () => {
    const request = { model: "held/video", prompt: "a fox", under: "dead link" };
    const name = await nameIn(await submit(request));
    // No test can fetch from a public URL: the repeated request has a dead link instead.
    const linked = { ...request, image: { gcsUri: "https://127.0.0.1/frame.png" } };
    const digest = digestOf("default", "held/video", textOf(linked));
    harness.database.run("UPDATE operations SET request_digest = ? WHERE id = ?", [digest, idOf(name)]);
    const repeated = await submit(linked);
    expect({ status: repeated.status, name: await nameIn(repeated) }).toEqual({ status: 200, name });
  });

  test("choices 6: reports what was dropped like the first answer, during the submit and after it", async () => {
    const request = {
      model: "held/video",
      prompt: "dropped",
      parameters: { negativePrompt: "blur" },
      under: "dropped",
    };
    held.hold();
    const first = submit(request);
    await until(() => held.waiting() === 1, "the job is being submitted");
    const during = await submit(request);
    held.release();
    const dropped = (await first).headers.get("x-trivium-dropped");
    expect(dropped).toBe("parameters.negativePrompt");
    expect(during.headers.get("x-trivium-dropped")).toBe(dropped);
    expect((await submit(request)).headers.get("x-trivium-dropped")).toBe(dropped);
  });
});

describe("H23: the budget holds the price at which a video will be billed", () => {
  const request = (model: string, key = KEYS.frugal) => submit({ model, prompt: model, key });

  test("of an offer that is more expensive than its model", async () => {
    expect((await request("own/expensive")).status).toBe(402);
  });

  test("of the most expensive offer that may accept it", async () => {
    expect((await request("own/cheap-then-expensive")).status).toBe(402);
  });

  test("of an offer that is cheaper than its model", async () => {
    expect((await request("own/cheaper-offer")).status).toBe(200);
  });

  test(
    "from its submit until its end",
    async () => {
      held.finish(false);
      const taken = await request("own/half", KEYS.thrifty);
      expect(taken.status).toBe(200);
      expect((await request("own/half", KEYS.thrifty)).status).toBe(402);
      held.finish(true);
      const name = await nameIn(taken);
      await until(async () => (await polled(name)).done === true, "the video is made");
      expect((await harness.gateway.receipt(taken)).cost_usd).toBeCloseTo(HALF * SECONDS, 9);
      expect((await request("own/half", KEYS.thrifty)).status).toBe(402);
    },
    LONG_MS,
  );
});
