import { describe, expect, test } from "bun:test";
import { Secret } from "../base/secret.ts";
import { system } from "../base/system.ts";
import type { ProviderSettings } from "../config/config.ts";
import { UPSTREAM_CODECS } from "../dialects/index.ts";
import { createProvider } from "./index.ts";
import type { UpstreamCall } from "./provider.ts";

const provider = (settings: Omit<ProviderSettings, "name">) => createProvider({ name: "cloud", ...settings }, system);
const call = (fields: Partial<UpstreamCall> & Pick<UpstreamCall, "dialect" | "model">): UpstreamCall => ({
  verb: "generate",
  stream: false,
  options: undefined,
  ...fields,
});
const CLAUDE = "us.anthropic.claude-sonnet-4-5-20250929-v1:0";
const NOVA = "amazon.nova-lite-v1:0";

describe("bedrock (providers 1.6)", () => {
  const keyed = provider({ kind: "bedrock", region: "eu-west-1", apiKey: new Secret("bedrock-key") });

  test("every model is served in converse, Claude in messages too", () => {
    expect(keyed.dialectsFor(NOVA)).toEqual(["converse"]);
    expect(keyed.dialectsFor(CLAUDE)).toEqual(["converse", "messages"]);
    expect(keyed.originOf(UPSTREAM_CODECS.converse, NOVA)).toBe("bedrock");
    expect(keyed.originOf(UPSTREAM_CODECS.converse, CLAUDE)).toBe("messages");
    expect(keyed.originOf(UPSTREAM_CODECS.messages, CLAUDE)).toBe("messages");
    expect(keyed.framingOf("converse")).toBe("aws-event-stream");
  });

  test("URLs have the encoded id and the region's host, headers the bearer key", async () => {
    const host = "https://bedrock-runtime.eu-west-1.amazonaws.com/model";
    expect(await keyed.endpoint(call({ dialect: "converse", model: NOVA }))).toMatchObject({
      url: `${host}/amazon.nova-lite-v1%3A0/converse`,
      headers: { authorization: "Bearer bedrock-key" },
    });
    const url = async (fields: Pick<UpstreamCall, "dialect" | "model" | "stream">) =>
      (await keyed.endpoint(call(fields))).url;
    expect(await url({ dialect: "converse", model: NOVA, stream: true })).toEndWith("/converse-stream");
    expect(await url({ dialect: "messages", model: CLAUDE, stream: false })).toEndWith("v1%3A0/invoke");
    expect(await url({ dialect: "messages", model: CLAUDE, stream: true })).toEndWith("/invoke-with-response-stream");
    expect(keyed.sign({ url: host, headers: {}, body: "" })).toEqual({});
  });

  test("a messages body goes without model and stream, with the version and the betas", () => {
    const patch = (betas: string[]) =>
      keyed.bodyPatch(
        call({ dialect: "messages", model: CLAUDE, options: betas.length === 0 ? undefined : { betas } }),
      );
    expect(patch([])).toEqual({ remove: ["model", "stream"], set: { anthropic_version: "bedrock-2023-05-31" } });
    expect(patch(["a", "b"])?.set["anthropic_beta"]).toEqual(["a", "b"]);
    expect(keyed.quirksOf("messages")).toMatchObject({ forwardBetas: true, mediaUrls: [] });
    expect(keyed.quirksOf("converse")).toMatchObject({ media: ["image", "document", "video"], mediaUrls: [] });
    expect(keyed.bodyPatch(call({ dialect: "converse", model: CLAUDE }))).toBeUndefined();
  });

  test("with an access key each request is signed; the key never shows in texts for clients (S10)", async () => {
    const signing = provider({
      kind: "bedrock",
      baseUrl: "http://127.0.0.1:1/bedrock",
      accessKeyId: "AKIDEXAMPLE",
      secretAccessKey: new Secret("a-secret-access-key"),
      sessionToken: new Secret("a-session-token"),
    });
    const { url, headers } = await signing.endpoint(call({ dialect: "converse", model: NOVA }));
    expect(headers["authorization"]).toBeUndefined();
    const added = signing.sign({ url, headers, body: "{}" });
    expect(added["authorization"]).toMatch(
      /^AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE\/\d{8}\/us-east-1\/bedrock\/aws4_request, SignedHeaders=content-type;host;x-amz-date;x-amz-security-token, Signature=[0-9a-f]{64}$/,
    );
    expect(signing.redact("it says a-session-token and a-secret-access-key")).toBe("it says [secret] and [secret]");
  });

  test("missing settings are named", () => {
    expect(() => provider({ kind: "bedrock", apiKey: new Secret("k") })).toThrow("region is required");
    expect(() => provider({ kind: "bedrock", region: "us-east-1", accessKeyId: "a" })).toThrow("secret_access_key");
    expect(provider({ kind: "bedrock", baseUrl: "http://127.0.0.1:1", apiKey: new Secret("k") }).name).toBe("cloud");
  });
});

describe("Claude on Vertex (providers 1.3)", () => {
  const vertex = provider({ kind: "vertex", project: "p", location: "eu", apiKey: new Secret("key-of-vertex") });

  test("names that begin with claude go to the publisher's own paths, others to Google's", async () => {
    expect(vertex.dialectsFor("claude-sonnet-4-5@20250929")).toEqual(["messages"]);
    expect(vertex.dialectsFor("gemini-2.5-pro")).toEqual(["genai"]);
    expect(vertex.dialectsFor("gemini-3.8-flash", "interactions")).toEqual(["interactions"]);
    expect((await vertex.endpoint(call({ dialect: "interactions", model: "gemini-3.8-flash" }))).url).toBe(
      "https://aiplatform.eu.rep.googleapis.com/v1beta1/projects/p/locations/eu/interactions",
    );
    const express = provider({ kind: "vertex", apiKey: new Secret("key-of-vertex") });
    expect(express.dialectsFor("gemini-3.8-flash", "interactions")).toEqual([]);
    const claude = { dialect: "messages", model: "claude-opus-4-6" } as const;
    const base = "https://aiplatform.eu.rep.googleapis.com/v1/projects/p/locations/eu/publishers";
    expect((await vertex.endpoint(call(claude))).url).toBe(`${base}/anthropic/models/claude-opus-4-6:rawPredict`);
    const streamed = await vertex.endpoint(call({ ...claude, stream: true, options: { betas: ["x", "y"] } }));
    expect(streamed.url).toEndWith("claude-opus-4-6:streamRawPredict");
    expect(streamed.headers["anthropic-beta"]).toBe("x,y");
    expect((await vertex.endpoint(call({ dialect: "genai", model: "gemini-2.5-pro" }))).url).toBe(
      `${base}/google/models/gemini-2.5-pro:generateContent`,
    );
    expect(vertex.bodyPatch(call(claude))).toEqual({
      remove: ["model"],
      set: { anthropic_version: "vertex-2023-10-16" },
    });
    expect(vertex.bodyPatch(call({ dialect: "genai", model: "gemini-2.5-pro" }))).toBeUndefined();
    expect(vertex.quirksOf("messages")).toMatchObject({ mediaUrls: [], structuredOutput: false });
    expect(vertex.quirksOf("genai").mediaUrls).toContain("video");
    expect(vertex.countsTokens("messages")).toBe(false);
    expect(vertex.countsTokens("genai")).toBe(true);
  });
});

describe("azure-openai (providers 1.5)", () => {
  const endpoint = async (settings: Partial<ProviderSettings>) =>
    provider({
      kind: "azure-openai",
      baseUrl: "https://r.openai.azure.com",
      apiKey: new Secret("key-of-azure"),
      ...settings,
    }).endpoint(call({ dialect: "chat", model: "my gpt" }));

  test("v1 by default, with or without the version in the base URL; deployments with an api_version", async () => {
    const v1 = "https://r.openai.azure.com/openai/v1/chat/completions";
    expect(await endpoint({})).toMatchObject({ url: v1, headers: { "api-key": "key-of-azure" } });
    expect((await endpoint({ baseUrl: "https://r.openai.azure.com/openai/v1" })).url).toBe(v1);
    expect((await endpoint({ apiVersion: "2025-04-01-preview" })).url).toBe(
      "https://r.openai.azure.com/openai/deployments/my%20gpt/chat/completions?api-version=2025-04-01-preview",
    );
  });

  test("R32: Responses have the model in the body in both forms, and are called where an offer or dialects say so", async () => {
    const azure = (settings: Partial<ProviderSettings>) =>
      provider({ kind: "azure-openai", baseUrl: "https://r.openai.azure.com", apiKey: new Secret("k"), ...settings });
    const url = async (settings: Partial<ProviderSettings>) =>
      (await azure(settings).endpoint(call({ dialect: "responses", model: "my gpt" }))).url;
    expect(await url({})).toBe("https://r.openai.azure.com/openai/v1/responses");
    expect(await url({ baseUrl: "https://r.openai.azure.com/openai/v1" })).toBe(await url({}));
    expect(await url({ apiVersion: "preview" })).toBe(
      "https://r.openai.azure.com/openai/responses?api-version=preview",
    );
    expect(azure({}).dialects).toEqual(["chat"]);
    expect(azure({}).dialectsFor("my gpt", "responses")).toEqual(["responses"]);
  });
});
