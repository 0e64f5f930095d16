import { afterAll, beforeAll, expect, test } from "bun:test";
import { isOptional, programsPresent } from "../testing/is-present.ts";
import { ExampleFolder, Page } from "./support/doc-examples.ts";
import { type SecureFront, startSecureFront } from "./support/secure-front.ts";
import { startTestGateway, type TestGateway } from "./support/test-gateway.ts";

const page = new Page("docs/live.md");

let gateway: TestGateway;
let folder: ExampleFolder;
let front: SecureFront;
/** The same reader, whose gateway has TLS in front. */
let behindTls: ExampleFolder;

beforeAll(async () => {
  gateway = await startTestGateway({ config: { simulator: true } });
  front = await startSecureFront(gateway.url);
  folder = new ExampleFolder({ TRIVIUM_URL: gateway.url, TRIVIUM_API_KEY: gateway.key });
  const trust = { NODE_EXTRA_CA_CERTS: front.authority, SSL_CERT_FILE: front.authority };
  behindTls = new ExampleFolder({ TRIVIUM_URL: front.url, TRIVIUM_API_KEY: gateway.key, ...trust });
});
afterAll(async () => {
  await front.stop();
  await gateway.stop();
  folder.remove();
  behindTls.remove();
});

test("every block of docs/live.md is run here", () => {
  expect(page.counts()).toEqual({ ts: 3, sh: 1, python: 3, json: 1, yaml: 1 });
});

test("docs/live.md: OpenAI's SDK creates a response and continues it", async () => {
  expect((await folder.typescript(page.one("ts", "ResponsesWS"))).trim()).toBe("completed rcp_\ncompleted rcp_");
});

const ANSWER = "This is Trivium's simulator. You said: “Where do three roads meet?”.";

test("docs/live.md: OpenAI's SDK has a spoken turn over Realtime", async () => {
  const printed = await behindTls.typescript(page.one("ts", "OpenAIRealtimeWS"));
  expect(printed.trim().split("\n")).toEqual([ANSWER, "completed true rcp_"]);
}, 30_000);

test("docs/live.md: Google's SDK has a spoken turn over Live", async () => {
  const printed = await folder.typescript(page.one("ts", "ai.live.connect"));
  expect(printed.trim().split("\n")).toEqual([ANSWER, "completed true"]);
}, 30_000);

test.skipIf(!programsPresent("client secrets of live.md", "curl"))(
  "docs/live.md: curl makes a client secret",
  async () => {
    const secret = JSON.parse(await folder.shell(page.one("sh", "client_secrets"))) as { value: string };
    expect(secret).toMatchObject({ value: expect.stringMatching(/^ek_/), session: { model: "sim/realtime" } });
  },
);

const interpreters = [...(process.env["TRIVIUM_TEST_PYTHON"] ?? "").split(":"), "python3"].filter(Boolean);

/** The first interpreter that has these modules. */
const pythonWith = (modules: string): string | undefined =>
  interpreters.find(
    (one) => Bun.which(one) !== null && Bun.spawnSync([one, "-c", `import ${modules}`], { stderr: "ignore" }).success,
  );

/** Each example, as it is and with a model of the other protocol, which the gateway translates. */
for (const [name, words, modules, last, reader, model, other] of [
  [
    "openai",
    "client.realtime.connect",
    "openai, websockets",
    "completed True rcp_",
    () => folder,
    "sim/realtime",
    "sim/live",
  ],
  [
    "google-genai",
    "client.aio.live.connect",
    "google.genai, websockets",
    "completed True",
    () => behindTls,
    "sim/live",
    "sim/realtime",
  ],
] as const) {
  const python = pythonWith(modules);
  const isThere = isOptional(python !== undefined, `Python example of live.md: ${name} is not installed`);
  for (const called of [model, other]) {
    test.skipIf(!isThere)(
      `docs/live.md: the Python SDK ${name} has a spoken turn with ${called}`,
      async () => {
        const example = page.one("python", words);
        expect(example).toContain(model);
        const printed = await reader().run([python ?? "", "-c", example.replaceAll(model, called)]);
        expect(printed.trim().split("\n")).toEqual([ANSWER, last]);
      },
      60_000,
    );
  }
}

const pythonOpenAi = pythonWith("openai.types.responses.responses_client_event, websockets");
const hasResponses = isOptional(pythonOpenAi !== undefined, "Python example of live.md: openai has no WebSocket");
test.skipIf(!hasResponses)(
  "docs/live.md: the Python SDK openai creates a response and continues it",
  async () => {
    const printed = await folder.run([pythonOpenAi ?? "", "-c", page.one("python", "client.responses.connect")]);
    expect(printed.trim()).toBe("completed rcp_\ncompleted rcp_");
  },
  60_000,
);

test("docs/live.md: the error event is as shown", () => {
  const shown = JSON.parse(page.one("json", "error")) as object;
  expect(shown).toMatchObject({ type: "error", status: 429, error: { headers: { "retry-after": "12" } } });
});

test("docs/live.md: the limits of the example are the defaults, and are read", async () => {
  const config = Bun.YAML.parse(page.one("yaml", "live:")) as object;
  const limited = await startTestGateway({
    config: { ...config, simulator: true },
    environment: { AGENTS_KEY: "sk-trv-".padEnd(50, "a") },
  });
  await limited.stop();
});
