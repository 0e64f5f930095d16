import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { system } from "../base/system.ts";
import { type ConfigSource, readConfig } from "./read-config.ts";
import { makeSnapshot } from "./snapshot.ts";

const folder = mkdtempSync(join(tmpdir(), "trivium-read-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function source(yaml: string, environment: ConfigSource["environment"] = {}): ConfigSource {
  writeFileSync(join(folder, "trivium.yaml"), yaml);
  return { cwd: folder, environment };
}

test("docs/configuration.md, Providers: with a section, exactly those in it; without one, the environment's", () => {
  const names = (yaml: string) => {
    const options = source(yaml, { OPENAI_API_KEY: "k", KLING_ACCESS_KEY: "a", KLING_SECRET_KEY: "s" });
    return [...makeSnapshot(readConfig(options), options.environment, system, undefined).providers.keys()];
  };
  expect(names("providers: {}\n")).toEqual([]);
  expect(names("providers: { mine: { kind: ollama } }\n")).toEqual(["mine"]);
  for (const none of ["simulator: false\n", "providers:\n"]) expect(names(none)).toEqual(["openai", "kling"]);
});

test("docs/configuration.md, Mistakes: what providers lack is reported at once, at their positions, with other mistakes", () => {
  writeFileSync(join(folder, "damaged.json"), '{"client_email":"a@b.example","private_key":"hidden"}');
  const yaml = `providers:
  google: { kind: vertex, project: p }
  gone: { kind: vertex, project: p, credentials: gone.json }
  damaged: { kind: vertex, project: p, credentials: damaged.json }
  aws: { kind: bedrock }
  videos: { kind: kling, access_key: a }
  fine: { kind: ollama }
server: { prot: 1 }
`;
  expect(() => readConfig(source(yaml))).toThrow(
    new Error(
      `trivium.yaml:2:3: providers.google: either credentials (a service account file) or api_key is required
trivium.yaml:3:3: providers.gone: ${join(folder, "gone.json")}: the file does not exist
trivium.yaml:4:3: providers.damaged: ${join(folder, "damaged.json")}: private_key is not a PEM key
trivium.yaml:5:3: providers.aws: region is required, such as us-east-1
trivium.yaml:5:3: providers.aws: either api_key or both access_key_id and secret_access_key are required
trivium.yaml:6:3: providers.videos: either api_key or both access_key and secret_key are required
trivium.yaml:8:11: server.prot is not a known field; did you mean port?`,
    ),
  );
});

test("S10: credentials that are given in place of a file path are not shown", () => {
  const json = JSON.stringify({ client_email: "a@b.example", private_key: "hidden" });
  const yaml = `providers:
  one: { kind: vertex, project: p, credentials: '${json}' }
  two: { kind: vertex, project: p, credentials: "\${ACCOUNT}" }
  three: { kind: vertex, project: p, credentials: "\${PEM}" }
  four: { kind: vertex, project: p, credentials: ${json} }
`;
  const places = ["2:49: providers.one", "3:49: providers.two", "4:51: providers.three", "5:50: providers.four"];
  const environment = { ACCOUNT: `\n ${json}\n`, PEM: "-----BEGIN PRIVATE KEY-----\nhidden\n" };
  expect(() => readConfig(source(yaml, environment))).toThrow(
    new Error(places.map((place) => `trivium.yaml:${place}.credentials must be the path of a file`).join("\n")),
  );
});

test("docs/configuration.md, Providers: dialects names those that the kind speaks", () => {
  const yaml = `providers:
  one: { kind: deepseek, api_key: k, dialects: [genai] }
  two: { kind: openai-compatible, base_url: "http://127.0.0.1:1", dialects: [chat, converse] }
  three: { kind: bedrock, api_key: k, region: r, dialects: [converse, messages] }
`;
  expect(() => readConfig(source(yaml))).toThrow(
    new Error(
      `trivium.yaml:2:49: providers.one.dialects[0] must be one of chat, messages, responses
trivium.yaml:3:84: providers.two.dialects[1] must be one of chat, messages, genai, responses`,
    ),
  );
});

test("docs/configuration.md, Prices: prices of the catalogue and of the simulator are known, and near names are found", () => {
  const models = [
    "anthropic/claude-sonnet-4.5",
    "anthropic/claude-sonnet-4-5",
    "sim/standard",
    "acme/llama",
    "z-ai/glm-image",
  ];
  const yaml = `models:\n${models.map((id) => `  - id: ${id}\n`).join("")}`;
  const said = readConfig(source(yaml)).warnings.map(({ line, message }) => [
    line,
    /did you mean (\S+)\?/.exec(message)?.[1],
  ]);
  // The catalogue has the last one, and no price for it.
  expect(said).toEqual([
    [2, "anthropic/claude-sonnet-4-5"],
    [5, undefined],
    [6, undefined],
  ]);
});
