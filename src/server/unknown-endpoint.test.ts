import { expect, test } from "bun:test";
import { cpuMs } from "../base/cpu-time.sample.ts";
import { type Route, RouteTable } from "./route-table.ts";
import type { Handler } from "./routed-request.ts";
import { ROUTES } from "./routes.ts";
import { unknownEndpoint } from "./unknown-endpoint.ts";

const table = new RouteTable(ROUTES);
const messageOf = (method: string, path: string) =>
  unknownEndpoint(method, path, { table, routes: ROUTES, publicUrl: "http://gw.example", upgrade: null }).message;

test.each([
  ["POST", "/v1/chat/completions/", "/v1/chat/completions"],
  ["POST", "/v1//chat/completions", "/v1/chat/completions"],
  ["POST", "/v1/v1/chat/completions", "/v1/chat/completions"],
  ["POST", "/api/v1/v1/chat/completions", "/api/v1/chat/completions"],
  ["POST", "/chat/completions", "/v1/chat/completions"],
  ["POST", "/api/chat/completions", "/api/v1/chat/completions"],
  ["POST", "/v1/api/v1/chat/completions", "/api/v1/chat/completions"],
  ["POST", "/openai/v1/chat/completions", "/v1/chat/completions"],
  ["POST", "/v1/v1/messages", "/v1/messages"],
  ["POST", "/messages", "/v1/messages"],
  ["POST", "/api/msg/messages", "/v1/messages"],
  ["POST", "/v1/v1/messages/count_tokens", "/v1/messages/count_tokens"],
  ["GET", "/models", "/v1/models"],
  ["GET", "/v1/models/", "/v1/models"],
  ["POST", "/images/generations", "/v1/images/generations"],
  ["POST", "/models/google/gemini-2.5-flash:generateContent", "/v1beta/models/google/gemini-2.5-flash:generateContent"],
])("%s %s: did you mean %s?", (method, path, meant) => {
  expect(messageOf(method, path)).toBe(`Unknown endpoint ${method} ${path}. Did you mean ${method} ${meant}?`);
});

test.each([
  ["POST", "/v1/v1/responses", "Did you mean POST /v1/responses?"],
  ["POST", "/v1/v1/conversations", "Did you mean POST /v1/conversations?"],
  ["POST", "/v1/threads/t_1/messages", "The Assistants API is not supported yet; use POST /v1/chat/completions."],
  ["POST", "/v1/complete", "The legacy text completion API is not supported yet; use POST /v1/messages."],
  ["POST", "/v1/images/variations", "The image variations API is not supported yet; use POST /v1/images/edits."],
  ["POST", "/api/v1/videos", "Did you mean POST /v1/videos?"],
  [
    "POST",
    "/v1/videos/characters",
    "The video characters API is not supported yet; use input_reference of POST /v1/videos.",
  ],
  ["POST", "/completions", "Did you mean POST /v1/completions?"],
  ["POST", "/embeddings", "Did you mean POST /v1/embeddings?"],
  ["POST", "/audio/speech", "Did you mean POST /v1/audio/speech?"],
  ["POST", "/v1/audio/voices", "The Voices API is not supported."],
  ["POST", "/v1/fine_tuning/jobs", "The Fine-tuning API is not supported."],
  ["POST", "/v1/realtime/calls", "The Realtime calls API is not supported yet; use GET /v1/realtime over a WebSocket."],
  [
    "POST",
    "/v2/whatever",
    "Base URLs: http://gw.example/v1 for OpenAI clients, http://gw.example for Anthropic and Google clients. GET /openapi.json lists all endpoints.",
  ],
])("%s %s: %s", (method, path, advice) => {
  expect(messageOf(method, path)).toBe(`Unknown endpoint ${method} ${path}. ${advice}`);
});

test("a path that exists under another method names that method", () => {
  expect(messageOf("GET", "/v1/embeddings")).toBe("/v1/embeddings takes POST, not GET.");
});

test("S18: a path designed to be slow is fast", () => {
  const startedMs = cpuMs();
  for (const path of [`/${"v1/".repeat(20_000)}`, `/${"/".repeat(60_000)}x`, `/models/${"a".repeat(60_000)}:`]) {
    expect(messageOf("POST", path).length).toBeLessThan(600);
  }
  expect(cpuMs() - startedMs).toBeLessThan(1_000);
});

test("the Admin API says where its endpoints are listed", () => {
  const routes = [{ ...ROUTES[0], path: "/api/keys", access: "admin" } as Route<Handler>];
  expect(
    unknownEndpoint("GET", "/v1/models", { table: new RouteTable(routes), routes, publicUrl: "", upgrade: null })
      .message,
  ).toBe(
    "Unknown endpoint GET /v1/models. This is the Admin API: GET /openapi.json lists its endpoints. Call models at the gateway's other port.",
  );
});

test("an upgrade to WebSocket names the request that works", () => {
  const options = { table, routes: ROUTES, publicUrl: "http://gw.example", upgrade: "websocket" };
  expect(unknownEndpoint("GET", "/api/v1/responses", options).message).toBe(
    "WebSocket connections are not supported at /api/v1/responses. Use POST /api/v1/responses instead.",
  );
});

test.each([
  ["POST", "/v1/containers", "The Containers API is not supported."],
  ["GET", "/v1/skills", "The Skills API is not supported."],
])("%s %s names the unsupported API", (method, path, sentence) => {
  expect(messageOf(method, path)).toContain(sentence);
});

test.each([
  "/ws/google.ai.generativelanguage.v1alpha.GenerativeService.BidiGenerateMusic",
  "//ws/other",
  "/api/genai/ws/other",
])("another WebSocket of Google's (%s) names that of Gemini Live", (path) => {
  expect(messageOf("GET", path)).toEndWith(
    "Gemini Live is at /ws/google.ai.generativelanguage.v1beta.GenerativeService.BidiGenerateContent.",
  );
});
