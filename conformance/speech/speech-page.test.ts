import { expect } from "bun:test";
import { Page } from "../support/doc-examples.ts";
import { testPage } from "../support/doc-page.ts";

const [yaml = ""] = new Page("docs/speech.md").in("yaml");
const { testShell, testExample } = testPage("docs/speech.md", {
  blocks: { sh: 1, ts: 1, yaml: 1 },
  programs: ["curl"],
  config: {
    providers: { "my-vllm": { kind: "vllm", base_url: "http://127.0.0.1:9/v1" } },
    ...(Bun.YAML.parse(yaml) as object),
  },
});

testShell("curl speaks a sentence, and transcribes it as subtitles", async (page, folder) => {
  const output = await folder.shell(page.one("sh", "/audio/speech"));
  expect(output).toMatch(/^1\n00:00:00,150 --> 00:00:01,\d{3}\nHello from the simulator\.\n/);
  expect(folder.read("hello.wav").toString("latin1", 0, 4)).toBe("RIFF");
});

testExample("openai speaks a sentence, transcribes it, moderates and completes", async (page, folder) => {
  const output = await folder.typescript(page.one("ts", 'from "openai"'));
  expect(output).toStartWith("The quick brown fox jumps over the lazy dog.\nfalse ");
});

testExample("the configured model transcribes", async (_page, _folder, gateway) => {
  const answer = await fetch(`${gateway.url}/v1/models/local/whisper`);
  expect(await answer.json()).toMatchObject({ output_modalities: ["transcription"] });
});

testExample("the table of endpoints lists paths of the API", async (page, _folder, gateway) => {
  const { paths } = (await (await fetch(`${gateway.url}/openapi.json`)).json()) as { paths: object };
  for (const [endpoint = ""] of page.rowsUnder("endpoint", "request")) {
    const path = endpoint.replaceAll("`", "").replace("POST ", "");
    expect(Object.keys(paths)).toEqual(expect.arrayContaining([path, `/api${path}`]));
  }
});
