import { describe, expect, test } from "bun:test";
import type { CapturedBodies } from "../api/types.ts";
import { capturedRequest, curlOf, whyNotRepeatable } from "./captured-request.ts";

const call = {
  verb: "generate",
  model: "sim/standard",
  stream: false,
  captured: true,
  dialect: { client: "messages", upstream: "chat" },
};
const bodies = (text: string, cut = false) =>
  ({ client_request: { text, bytes: text.length, cut } }) as unknown as CapturedBodies;

describe("a captured request", () => {
  test("is a command that a shell reads as it was sent, without a credential", async () => {
    const body = `{"a":"it's \`$(date)\` \\\\ \\n \\"quoted\\""}`;
    const command = curlOf("http://gateway", capturedRequest(call, bodies(body)));
    const shell = `curl() { printf '%s\\n' "$@"; }; TRIVIUM_API_KEY=from-env; ${command}`;
    const printed = await new Response(Bun.spawn(["sh", "-c", shell], { stdout: "pipe" }).stdout).text();
    expect(printed.split("\n").slice(0, -1)).toEqual([
      "http://gateway/v1/messages",
      ...["-H", "Authorization: Bearer from-env", "-H", "Content-Type: application/json"],
      ...["-H", "anthropic-version: 2023-06-01", "-d", body],
    ]);
  });

  test("has the path of its protocol", () => {
    const of = (client: string, changes = {}) =>
      capturedRequest({ ...call, ...changes, dialect: { client, upstream: "chat" } }, bodies("{}")).path;
    expect(of("genai", { stream: true })).toBe("/v1beta/models/sim%2Fstandard:streamGenerateContent?alt=sse");
    expect(of("chat")).toBe("/v1/chat/completions");
    expect(of("chat", { verb: "embeddings" })).toBe("/v1/embeddings");
  });

  test("says why it cannot be repeated", () => {
    expect(whyNotRepeatable({ ...call, captured: false }, "admin")).toContain("was not captured");
    expect(whyNotRepeatable(call, "viewer")).toContain("Viewers");
    expect(whyNotRepeatable({ ...call, verb: "videos" }, "admin")).toContain("videos");
    expect(whyNotRepeatable(call, "admin")).toBeUndefined();
    expect(() => capturedRequest(call, bodies("{", true))).toThrow("truncated");
    expect(() => capturedRequest(call, bodies('{"url":"[image/png, 390 bytes, medium 1]"}'))).toThrow("Media");
  });
});
