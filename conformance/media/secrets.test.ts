import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { plainPng } from "../../src/media/images.sample.ts";
import { eventually } from "../../testing/eventually.ts";
import { startTestGateway, type TestGateway } from "../support/test-gateway.ts";

const SECRET = "upstream-secret-of-the-host";
/** A fake key at the position where a provider's text is cut. */
const AT_THE_CUT = "x".repeat(1985);

/** How the host answers every request until the next test. */
let play: (request: Request) => Response;
let host: Bun.Server<undefined>;
let gateway: TestGateway;

beforeAll(async () => {
  host = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: (request) => play(request) });
  const model = (id: string, modality: string, model: string) => ({
    id,
    output_modalities: [modality],
    pricings: {},
    offers: [{ provider: "host", model }],
  });
  gateway = await startTestGateway({
    config: {
      providers: { host: { kind: "volcengine", base_url: host.url.origin, api_key: SECRET } },
      models: [
        model("test/images", "image", "doubao-seedream-4-5-251128"),
        model("test/videos", "video", "doubao-seedance-1-5-pro-251215"),
      ],
    },
    timings: { mediaPollFactor: 0.001 },
  });
});
afterAll(async () => {
  await gateway.stop();
  await host.stop(true);
});

const post = (path: string, body: object) =>
  fetch(gateway.url + path, {
    method: "POST",
    headers: { authorization: `Bearer ${gateway.key}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  });

const failure = (code: string, message = `not ${SECRET}`) => ({ error: { code, message, param: SECRET } });

function expectClean(text: string, shown: string | RegExp = "[secret]"): void {
  expect(text).not.toContain("upstream-sec");
  if (typeof shown === "string") expect(text).toContain(shown);
  else expect(text).toMatch(shown);
}

describe("S10: a host's text about images is shown without the gateway's key", () => {
  const ASKS = {
    images: { path: "/api/v1/images/generations", body: { model: "test/images", prompt: "p", n: 2 } },
    stream: { path: "/api/v1/images/generations", body: { model: "test/images", prompt: "p", n: 2, stream: true } },
    genai: {
      path: "/api/genai/v1/publishers/test/models/images:predict",
      body: { instances: [{ prompt: "p" }], parameters: { sampleCount: 2 } },
    },
    conversation: {
      path: "/api/v1/chat/completions",
      body: { model: "test/images", messages: [{ role: "user", content: "p" }] },
    },
  };
  const textOf = async ({ path, body }: { path: string; body: object }) => (await post(path, body)).text();

  test("all refused", async () => {
    for (const code of ["InvalidParameter", "InputTextSensitiveContentDetected"]) {
      for (const ask of Object.values(ASKS)) {
        play = () => Response.json(failure(code), { status: 400 });
        expectClean(await textOf(ask));
        play = () => Response.json(failure(code, AT_THE_CUT + SECRET), { status: 400 });
        expectClean(await textOf(ask), /x{1985}\[secret\]/);
      }
    }
  });

  test("contract 7: one of two is blocked, the other is made", async () => {
    const made = { b64_json: plainPng(8, 8).base64 };
    play = () => Response.json({ data: [made, failure("OutputImageSensitiveContentDetected")] });
    expectClean(await textOf(ASKS.genai));
    expectClean(await textOf(ASKS.images), "b64_json");
    const events = [
      { type: "image_generation.partial_succeeded", image_index: 0, ...made },
      { type: "image_generation.partial_failed", image_index: 1, ...failure("OutputImageSensitiveContentDetected") },
      { type: "image_generation.completed", usage: { generated_images: 1 } },
    ];
    const stream = events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join("");
    play = () => new Response(stream, { headers: { "content-type": "text/event-stream" } });
    expectClean(await textOf(ASKS.stream));
  });
});

describe("S10: a host's text about videos is shown without the gateway's key", () => {
  const VIDEOS = "/api/genai/v1/publishers/test/models/videos";
  const submit = () => post(`${VIDEOS}:predictLongRunning`, { instances: [{ prompt: "p" }] });

  /** What a client finally gets for a job that the host reports like this. */
  async function endOf(job: object, status = 200): Promise<string> {
    play = ({ method }) => (method === "POST" ? Response.json({ id: "job" }) : Response.json(job, { status }));
    const { name } = (await (await submit()).json()) as { name: string };
    return eventually("the end of the video", async () => {
      const text = await (await post(`${VIDEOS}:fetchPredictOperation`, { operationName: name })).text();
      return (JSON.parse(text) as { done?: boolean }).done ? text : undefined;
    });
  }

  test("a refused submit", async () => {
    play = () => Response.json(failure("InvalidParameter"), { status: 400 });
    expectClean(await (await submit()).text());
  });

  test("jobs that are blocked, fail, or cannot be polled", async () => {
    expectClean(await endOf({ status: "failed", ...failure("OutputVideoSensitiveContentDetected") }));
    expectClean(await endOf({ status: "failed", ...failure("InternalServiceError") }));
    expectClean(await endOf({ status: "failed", ...failure("InternalServiceError", AT_THE_CUT + SECRET) }), "xxx");
    expectClean(await endOf(failure("InvalidParameter"), 400));
  });
});
