import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { programsPresent } from "../../testing/is-present.ts";
import { ExampleFolder, Page } from "../support/doc-examples.ts";
import { startTestGateway, type TestGateway } from "../support/test-gateway.ts";

// Examples start programs, possibly on a slow machine.

const page = new Page("docs/speech.md");
const [yaml = ""] = page.in("yaml");

let gateway: TestGateway;
let folder: ExampleFolder;
beforeAll(async () => {
  gateway = await startTestGateway({
    config: {
      simulator: true,
      providers: { "my-vllm": { kind: "vllm", base_url: "http://127.0.0.1:9/v1" } },
      ...(Bun.YAML.parse(yaml) as object),
    },
  });
  folder = new ExampleFolder({ TRIVIUM_URL: gateway.url, TRIVIUM_API_KEY: gateway.key });
});
afterAll(async () => {
  await gateway.stop();
  folder.remove();
});

describe("docs/speech.md", () => {
  test("every example is run here", () => {
    expect(page.counts()).toEqual({ sh: 1, ts: 1, yaml: 1 });
  });

  test.skipIf(!programsPresent("docs/speech.md", "curl"))(
    "its curl commands speak a sentence, and transcribe it as subtitles",
    async () => {
      const output = await folder.shell(page.one("sh", "/audio/speech"));
      expect(output).toMatch(/^1\n00:00:00,150 --> 00:00:01,\d{3}\nHello from the simulator\.\n/);
      expect(folder.read("hello.wav").toString("latin1", 0, 4)).toBe("RIFF");
    },
  );

  test("its example with openai speaks a sentence, transcribes it, moderates and completes", async () => {
    const output = await folder.typescript(page.one("ts", 'from "openai"'));
    expect(output).toStartWith("The quick brown fox jumps over the lazy dog.\nfalse ");
  });

  test("its configured model transcribes", async () => {
    const answer = await fetch(`${gateway.url}/v1/models/local/whisper`);
    expect(await answer.json()).toMatchObject({ output_modalities: ["transcription"] });
  });

  test("its table of endpoints is that of the API", async () => {
    const { paths } = (await (await fetch(`${gateway.url}/openapi.json`)).json()) as { paths: object };
    for (const [endpoint = ""] of page.rowsUnder("endpoint", "request")) {
      const path = endpoint.replaceAll("`", "").replace("POST ", "");
      expect(Object.keys(paths)).toEqual(expect.arrayContaining([path, `/api${path}`]));
    }
  });
});
