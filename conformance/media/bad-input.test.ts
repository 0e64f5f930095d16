import { Database } from "bun:sqlite";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { drawImage } from "../../simulator/media-maker/draw-image.ts";
import type { ImageOptions } from "../../simulator/media-maker/paint-image.ts";
import { type Simulator, startSimulator } from "../../simulator/simulator.ts";
import { eventually } from "../../testing/eventually.ts";
import { TEST_KEY } from "../../testing/test-key.ts";
import { startTestGateway, type TestGateway } from "../support/test-gateway.ts";

/**
 * Mistakes in image and video requests: each is reported in the caller's protocol, with its path and what is expected.
 */

const OTHER_KEY = `sk-trv-${"AnotherProjectsKey".padEnd(43, "x")}`;
const IMAGES = "openai/gpt-image-2";
const BATCHES = "bytedance/doubao-seedream-4-5-251128";
const MEGABYTE = 1024 * 1024;

let simulator: Simulator;
let gateway: TestGateway;
let image: Buffer;
let glass: Buffer;
let wideGlass: Buffer;

beforeAll(async () => {
  simulator = await startSimulator({ tokenDelayMs: 0, mediaJobMs: 20 });
  const provider = (kind: string, path: string) => ({
    kind,
    base_url: simulator.url + path,
    api_key: "upstream-secret",
  });
  gateway = await startTestGateway({
    config: {
      simulator: true,
      providers: {
        openai: provider("openai", "/openai/v1"),
        volcengine: provider("volcengine", "/hosts/volcengine/api/v3"),
      },
      keys: [
        { name: "tests", key: TEST_KEY },
        { name: "others", key: OTHER_KEY, project: "others" },
      ],
    },
    timings: { bodyStallMs: 700, bodyBytesPerSecond: MEGABYTE, mediaPollFactor: 0.02 },
  });
  const draw = async (options: Partial<ImageOptions>) =>
    Buffer.from(await drawImage({ prompt: "input", width: 128, height: 128, seed: 1, format: "png", ...options }));
  image = await draw({});
  glass = await draw({ transparent: true });
  wideGlass = await draw({ transparent: true, width: 256 });
});
afterAll(async () => {
  await gateway.stop();
  await simulator.stop();
});

function post(
  path: string,
  body: NonNullable<RequestInit["body"]>,
  headers: Record<string, string> = {},
): Promise<Response> {
  return fetch(gateway.url + path, {
    method: "POST",
    headers: { authorization: `Bearer ${gateway.key}`, ...headers },
    body,
  });
}

const postJson = (path: string, body: object, headers: Record<string, string> = {}) =>
  post(path, JSON.stringify(body), { "content-type": "application/json", ...headers });

const at = (model: string, verb: string) => `/api/genai/v1/publishers/${model.replace("/", "/models/")}:${verb}`;

const GENERATIONS = "/api/v1/images/generations";
const EDITS = "/api/v1/images/edits";

const generate = (body: object) => postJson(GENERATIONS, { model: IMAGES, prompt: "a fox", ...body });

const predict = (instance: object, parameters: object = {}, model = IMAGES) =>
  postJson(at(model, "predict"), { instances: [{ prompt: "a fox", ...instance }], parameters });

const video = (instance: object, model = "sim/video") =>
  postJson(at(model, "predictLongRunning"), { instances: [{ prompt: "a fox runs", ...instance }] });

function edit(
  fields: Record<string, string | Buffer>,
  base: Record<string, string> = { model: IMAGES, prompt: "more" },
) {
  const form = new FormData();
  for (const [name, value] of Object.entries({ ...base, ...fields })) {
    if (typeof value === "string") form.append(name, value);
    else form.append(name, new File([new Uint8Array(value)], `${name}.png`, { type: "image/png" }));
  }
  return post(EDITS, form);
}

const encoded = (bytes: Buffer) => ({ bytesBase64Encoded: bytes.toString("base64"), mimeType: "image/png" });

const references = (mask: Buffer) => ({
  referenceImages: [
    { referenceType: "REFERENCE_TYPE_RAW", referenceId: 1, referenceImage: encoded(image) },
    {
      referenceType: "REFERENCE_TYPE_MASK",
      referenceId: 2,
      referenceImage: encoded(mask),
      maskImageConfig: { maskMode: "MASK_MODE_USER_PROVIDED" },
    },
  ],
});

interface ChatError {
  message: string;
  type: string;
  param: string | null;
  code: string | null;
}

interface GenaiError {
  code: number;
  message: string;
  status: string;
  details: { fieldViolations?: { field: string }[] }[];
}

interface ReportedError {
  status: number;
  /** The protocol's word for the kind of error. */
  type: string;
  path: string | null;
  message: string;
}

/** An error in the caller's own protocol; another protocol's form, or a successful response, fails the test. */
async function chatError(answer: Promise<Response>): Promise<ReportedError> {
  const response = await answer;
  const { error } = (await response.json()) as { error: ChatError };
  expect(Object.keys(error).sort()).toEqual(["code", "message", "param", "type"]);
  return { status: response.status, type: error.type, path: error.param, message: error.message };
}

async function genaiError(answer: Promise<Response>): Promise<ReportedError> {
  const response = await answer;
  const { error } = (await response.json()) as { error: GenaiError };
  expect(error.code).toBe(response.status);
  const path = error.details.flatMap(({ fieldViolations = [] }) => fieldViolations)[0]?.field ?? null;
  return { status: response.status, type: error.status, path, message: error.message };
}

/** A name, the request, the path in the error, and the required message. */
type Mistake = [name: string, ask: () => Promise<Response>, path: string | null, says: RegExp];

function refused(title: string, chat: readonly Mistake[], genai: readonly Mistake[], status = 400): void {
  const types = { 400: ["invalid_request_error", "INVALID_ARGUMENT"], 404: ["not_found_error", "NOT_FOUND"] };
  const [chatType = "invalid_request_error", genaiType = "INVALID_ARGUMENT"] = types[status as 400] ?? [];
  describe(title, () => {
    for (const [name, ask, path, says] of chat) {
      test(`chat: ${name}`, async () => {
        const reported = await chatError(ask());
        expect(reported).toMatchObject({ status, type: chatType, path });
        expect(reported.message).toMatch(says);
      });
    }
    for (const [name, ask, path, says] of genai) {
      test(`genai: ${name}`, async () => {
        const reported = await genaiError(ask());
        expect(reported).toMatchObject({ status, type: genaiType, path });
        expect(reported.message).toMatch(says);
      });
    }
  });
}

const SIDES = /3856x2048.*1024x1024.*at most 3840 pixels/;
const SHAPE = /1984x640.*at most 3 times/;
const RASTER = /1000x1000.*multiples of 16/;

refused(
  "contract 2.4, 8: numbers and sizes",
  [
    ["16 images where 15 is the most", () => generate({ model: BATCHES, n: 16 }), "n", /16 images.*at most 15/],
    ["3856 pixels", () => generate({ size: "3856x2048" }), "size", SIDES],
    ["3.1 to 1", () => generate({ size: "1984x640" }), "size", SHAPE],
    ["no multiple of 16", () => generate({ size: "1000x1000" }), "size", RASTER],
    ["no size at all", () => generate({ size: "large" }), "size", /"auto" or a width and a height.*"large"/],
  ],
  [
    [
      "16 images where 15 is the most",
      () => predict({}, { sampleCount: 16 }, BATCHES),
      "parameters.sampleCount",
      /at most 15/,
    ],
    ["3856 pixels", () => predict({}, { imageSize: "3856x2048" }), "parameters.imageSize", SIDES],
    ["3.1 to 1", () => predict({}, { imageSize: "1984x640" }), "parameters.imageSize", SHAPE],
    ["no multiple of 16", () => predict({}, { imageSize: "1000x1000" }), "parameters.imageSize", RASTER],
  ],
);

const MASK = "instances[0].referenceImages[1].referenceImage";

refused(
  "contract 2.4, H12: invalid masks and images",
  [
    ["a mask of another size", () => edit({ image, mask: wideGlass }), "mask", /128x128; it is 256x128/],
    ["a mask without alpha", () => edit({ image, mask: image }), "mask", /alpha channel.*it has none/],
    ["words for an image", () => edit({ image: Buffer.from("words") }), "image", /PNG, JPEG, WebP or GIF/],
    ["a file of no bytes", () => edit({ image: Buffer.alloc(0) }), "image", /the file is empty/],
    ["no image to edit", () => edit({}), "image", /must be the image to edit; it is missing/],
    ["broken base64", () => generate({ image: "data:image/png;base64,@@@@" }), "image", /must be base64/],
    ["another scheme", () => generate({ image: "file:///etc/passwd" }), "image", /data URL.*https.*begins with file:/],
  ],
  [
    ["a mask of another size", () => predict(references(wideGlass)), MASK, /128x128; it is 256x128/],
    ["a mask without alpha", () => predict(references(image)), MASK, /alpha channel.*it has none/],
    ["words for an image", () => predict({ image: encoded(Buffer.from("words")) }), "instances[0].image", /PNG, JPEG/],
    ["words for a frame", () => video({ image: encoded(Buffer.from("words")) }), "instances[0].image", /PNG, JPEG/],
    [
      "broken base64",
      () => predict({ image: { bytesBase64Encoded: "not*base64" } }),
      "instances[0].image.bytesBase64Encoded",
      /must be base64/,
    ],
    [
      "somebody's bucket",
      () => video({ lastFrame: { gcsUri: "gs://bucket/a.png" } }),
      "instances[0].lastFrame.gcsUri",
      /send bytesBase64Encoded instead/,
    ],
  ],
);

refused(
  "H12: numbers in forms are text, and must be numbers all the same",
  [
    ["a word", () => edit({ image, n: "two" }), "n", /integer of at least 1; it is "two"/],
    ["a fraction", () => edit({ image, n: "1.5" }), "n", /integer/],
    ["none at all for true or false", () => edit({ image, stream: "yes" }), "stream", /true or false/],
    ["a string in JSON", () => generate({ n: "2" }), "n", /integer of at least 1; it is "2"/],
    ["too large a level", () => edit({ image, output_compression: "101" }), "output_compression", /100/],
  ],
  [["a string in JSON", () => predict({}, { sampleCount: "2" }), "parameters.sampleCount", /integer.*"2"/]],
);

test("H12: numbers in a form are read as numbers", async () => {
  const fields = { image, mask: glass, n: "2", output_format: "jpeg", output_compression: "40" };
  const response = await edit(fields);
  const { data } = (await response.json()) as { data: { b64_json: string }[] };
  expect(data.map(({ b64_json }) => b64_json.slice(0, 4))).toEqual(["/9j/", "/9j/"]);
});

const KINDS = /produces text, not/;

refused(
  "contract 4: models that make something else, or nothing",
  [
    ["no model", () => postJson(GENERATIONS, { prompt: "a fox" }), "model", /must be a non-empty string.*missing/],
    ["no model in a form", () => edit({ image }, { prompt: "more" }), "model", /must be a non-empty string.*missing/],
    ["no prompt in a form", () => edit({ image }, { model: IMAGES }), "prompt", /must be a non-empty string.*missing/],
    ["a text model", () => generate({ model: "sim/standard" }), "model", /produces text, not images/],
    [
      "a video asked for text",
      () =>
        postJson("/api/v1/chat/completions", { model: "sim/video", messages: [{ role: "user", content: "hello" }] }),
      "model",
      /predictLongRunning/,
    ],
  ],
  [
    ["a text model for images", () => predict({}, {}, "sim/standard"), "model", KINDS],
    ["a text model for videos", () => video({}, "sim/standard"), "model", KINDS],
    ["images for videos", () => video({}, "sim/image"), "model", /not videos/],
    ["videos for images", () => predict({}, {}, "sim/video"), "model", /not images/],
    [
      "an embedding",
      () => postJson(at(IMAGES, "predict"), { instances: [{ content: "to be embedded" }] }),
      "instances[0].content",
      /requests an embedding, but this model generates images.*instances\[0\]\.prompt/,
    ],
    [
      "an operation without a name",
      () => postJson(at("sim/video", "fetchPredictOperation"), {}),
      "operationName",
      /missing/,
    ],
    [
      "an invalid name",
      () => postJson(at("sim/video", "fetchPredictOperation"), { operationName: "video-1" }),
      "operationName",
      /publishers\/<provider>\/models\/<model>\/operations\/<operation_id>; it is "video-1"/,
    ],
  ],
);

refused(
  "contract 4: unknown models, with those that are near",
  [["images", () => generate({ model: "openai/gpt-image-22" }), "model", /Did you mean openai\/gpt-image-2/]],
  [
    ["images", () => predict({}, {}, "openai/gpt-imaeg-2"), "model", /Did you mean openai\/gpt-image-2/],
    ["videos", () => video({}, "sim/vidoe"), "model", /Did you mean sim\/video/],
  ],
  404,
);

const OUTSIDE = /Use a public https URL, or send the image itself/;

refused(
  "S12: the URL of an image may only lead to the public web",
  [
    ...[
      "http://example.com/a.png",
      "https://127.0.0.1/a.png",
      "https://[::1]/a.png",
      "https://169.254.169.254/latest",
    ].map((url): Mistake => [url, () => generate({ image: url }), "image", OUTSIDE]),
    ["in a form", () => edit({ image: "https://10.0.0.1/a.png" }), "image", OUTSIDE],
    [
      "for a mask",
      () => {
        const images = [{ image_url: `data:image/png;base64,${image.toString("base64")}` }];
        return postJson(EDITS, {
          model: IMAGES,
          prompt: "x",
          images,
          mask: { image_url: "https://192.168.0.1/m.png" },
        });
      },
      "mask",
      OUTSIDE,
    ],
    [
      "more of them than any model takes",
      () => generate({ images: new Array(500).fill("https://127.0.0.1/a.png") }),
      "image",
      /500 images.*at most 20/,
    ],
  ],
  [
    ["for an image", () => predict({ image: { gcsUri: "https://127.0.0.1/a.png" } }), "instances[0].image", OUTSIDE],
    [
      "for a last frame",
      () => video({ lastFrame: { gcsUri: "https://10.1.1.1/a.png" } }),
      "instances[0].lastFrame",
      OUTSIDE,
    ],
  ],
);

test("S12: the simulator was never asked for an image at a client's request", async () => {
  const before = simulator.stats().requests;
  await chatError(generate({ image: `${simulator.url.replace("http:", "https:")}/results/a.png` }));
  await genaiError(video({ image: { gcsUri: `${simulator.url}/results/a.png` } }));
  expect(simulator.stats().requests).toBe(before);
});

describe("contract 2.3, S09: operations that do not exist", () => {
  const poll = (name: string, key = TEST_KEY) =>
    postJson(at("sim/video", "fetchPredictOperation"), { operationName: name }, { authorization: `Bearer ${key}` });

  async function finishedVideo(): Promise<string> {
    const { name } = (await (await video({})).json()) as { name: string };
    await eventually(
      "the end of the video",
      async () => ((await (await poll(name)).json()) as { done?: boolean }).done,
    );
    return name;
  }

  test("unknown, another project's and expired ones look the same", async () => {
    const name = await finishedVideo();
    const words = ({ message, ...rest }: ReportedError) => ({ ...rest, message: message.replace(/"[^"]*"/, '""') });
    const unknown = await genaiError(poll(name.replace(/[^/]*$/, "nobody-knows-it")));
    expect(unknown).toMatchObject({ status: 404, type: "NOT_FOUND", path: "operationName" });
    expect(unknown.message).toContain("kept for 48 hours after");
    expect(words(await genaiError(poll(name, OTHER_KEY)))).toEqual(words(unknown));
    const database = new Database(join(gateway.folder, "data", "trivium.db"));
    database.run("UPDATE operations SET expires_at_ms = ? WHERE state = 'done'", [Date.now() - 60_000]);
    database.close();
    expect(words(await genaiError(poll(name)))).toEqual(words(unknown));
  });
});

describe("choices 2: content types", () => {
  const FORM = "multipart/form-data; boundary=a";

  test("any other is 415, and the message names the right one", async () => {
    const wrong = { "content-type": "text/plain" };
    const reported = await Promise.all([
      chatError(post(GENERATIONS, "{}", wrong)),
      chatError(post(EDITS, "{}", wrong)),
      genaiError(post(at(IMAGES, "predict"), "--a--", { "content-type": FORM })),
      genaiError(post(at("sim/video", "predictLongRunning"), "{}", wrong)),
    ]);
    expect(reported.map(({ status }) => status)).toEqual([415, 415, 415, 415]);
    for (const { message } of reported) expect(message).toMatch(/application\/json/);
    expect(reported[1]?.message).toContain("multipart/form-data");
  });

  test("JSON, or nothing, if the content type says form", async () => {
    const json = await chatError(post(EDITS, '{"model":"openai/gpt-image-2"}', { "content-type": FORM }));
    expect(json).toMatchObject({ status: 400, type: "invalid_request_error" });
    expect(json.message).toMatch(/not a multipart form.*boundary/);
    expect((await chatError(post(EDITS, "", { "content-type": FORM }))).message).toMatch(/empty.*form/);
    const bare = await chatError(post(EDITS, "{}", { "content-type": "multipart/form-data" }));
    expect(bare).toMatchObject({ status: 400 });
    expect(bare.message).toContain("boundary of 1 to 70 characters");
  });

  test("H12: a form without its last boundary is refused, and the error names the field in which it ended", async () => {
    const text = `--a\r\ncontent-disposition: form-data; name="image"; filename="x"\r\n\r\nhalf a pict`;
    const reported = await chatError(post(EDITS, text, { "content-type": FORM }));
    expect(reported).toMatchObject({ status: 400, type: "invalid_request_error", path: "image" });
    expect(reported.message).toBe("image: The form ends before its last boundary.");
  });
});

/** The names of all files that an upload could have left. */
const leftovers = () => [
  ...readdirSync(join(gateway.folder, "data"), { recursive: true }).map(String).sort(),
  ...readdirSync(tmpdir()).filter((name) => /upload|multipart|\.part$/i.test(name)),
];

describe("H12, H20: endless bodies", () => {
  const HEAD = `--a\r\ncontent-disposition: form-data; name="image"; filename="x.png"\r\ncontent-type: image/png\r\n\r\n`;

  test("a form of 200 MB without a length is 413 before it is fully read, and leaves no file", async () => {
    const before = leftovers();
    const chunk = Buffer.alloc(MEGABYTE, "x");
    let sent = 0;
    const body = new ReadableStream<Uint8Array>({
      type: "bytes",
      start: (controller) => controller.enqueue(Buffer.from(HEAD)),
      pull: (controller) => {
        if (sent === 200) return controller.close();
        sent += 1;
        controller.enqueue(new Uint8Array(chunk));
      },
    });
    const reported = await chatError(post(EDITS, body, { "content-type": "multipart/form-data; boundary=a" }));
    expect(reported).toMatchObject({ status: 413, type: "invalid_request_error" });
    expect(reported.message).toContain("64 MB");
    expect(sent).toBeLessThan(150);
    expect(leftovers()).toEqual(before);
    expect((await edit({ image })).status).toBe(200);
  });

  test("S18: a form full of near-boundaries is refused, and the message says what helps", async () => {
    const reported = await chatError(
      post(EDITS, HEAD + "\r\n--aX".repeat(2_000_000), { "content-type": "multipart/form-data; boundary=a" }),
    );
    expect(reported).toMatchObject({ status: 400, type: "invalid_request_error", path: "image" });
    expect(reported.message).toContain("Choose another boundary");
  });

  test("a form whose declared length is too large is rejected at once", async () => {
    const answer = await talk(`content-length: ${200 * MEGABYTE}`, HEAD);
    expect(answer).toStartWith("HTTP/1.1 413");
    expect(answer).toContain("request_too_large");
  });

  test("half a form and then silence times out, while others are served", async () => {
    const silent = talk("content-length: 100000", HEAD);
    expect((await edit({ image })).status).toBe(200);
    const answer = await silent;
    expect(answer).toStartWith("HTTP/1.1 400");
    expect(answer).toContain("stopped arriving");
    expect(answer).toContain("invalid_request_error");
    const chunked = await talk("transfer-encoding: chunked", `${HEAD.length.toString(16)}\r\n${HEAD}\r\n`);
    expect(chunked).toContain("stopped arriving");
  });

  /** Sends no more than this, and returns the response up to its body. */
  function talk(length: string, body: string): Promise<string> {
    const { hostname, port } = new URL(gateway.url);
    const { promise, resolve } = Promise.withResolvers<string>();
    let answer = "";
    const socket = connect(Number(port), hostname);
    socket.on("error", () => {});
    socket.on("data", (part) => {
      answer += part.toString();
      if (/\r\n\r\n[\s\S]*\}/.test(answer)) socket.destroy();
    });
    socket.on("close", () => resolve(answer));
    const lines = [
      `POST ${EDITS} HTTP/1.1`,
      `host: ${hostname}:${port}`,
      `authorization: Bearer ${gateway.key}`,
      "content-type: multipart/form-data; boundary=a",
      length,
    ];
    socket.write(`${lines.join("\r\n")}\r\n\r\n${body}`);
    return promise;
  }
});
