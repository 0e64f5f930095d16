import { describe, expect, test } from "bun:test";
import { DIALECTS } from "../dialects/index.ts";
import { RouteTable } from "./route-table.ts";
import { ROUTES } from "./routes.ts";

const table = new RouteTable(ROUTES);

describe("choices 1: every endpoint, at both doors, and its aliases", () => {
  test.each([
    ["POST", "/api/v1/chat/completions", "chat", "contract"],
    ["POST", "/v1/chat/completions", "chat", "dropin"],
    ["GET", "/api/v1/models", "chat", "contract"],
    ["GET", "/v1/models", "chat", "dropin"],
    ["GET", "/api/v1/models/sim%2Fstandard", "chat", "contract"],
    ["GET", "/api/v1/generation", "chat", "contract"],
    ["POST", "/api/msg/v1/messages", "messages", "contract"],
    ["POST", "/api/anthropic/v1/messages", "messages", "contract"],
    ["POST", "/v1/messages", "messages", "dropin"],
    ["POST", "/api/msg/v1/messages/count_tokens", "messages", "contract"],
    ["POST", "/v1/messages/count_tokens", "messages", "dropin"],
    ["GET", "/api/msg/v1/models", "messages", "contract"],
    ["GET", "/api/anthropic/v1/models/sim%2Fstandard", "messages", "contract"],
    ["GET", "/api/genai/v1beta/models", "genai", "contract"],
    ["GET", "/api/genai/v1/publishers/google/models", "genai", "contract"],
    ["GET", "/api/vertex-ai/v1beta/models", "genai", "contract"],
    ["GET", "/v1beta/models", "genai", "dropin"],
  ] as const)("%s %s", (method, path, dialect, door) => {
    expect(table.find(method, path)?.route).toMatchObject({ dialect, door });
  });

  test.each([
    ["/v1beta/publishers/acme/models/m:free/operations/op-1", { operation: "op-1" }],
    ["/v1/models/m/operations/op_1", { operation: "op_1" }],
    ["/v1beta/models/acme/m/operations/op", { operation: "op" }],
    ["/v1beta/files/file0a:download", { id: "file0a" }],
    ["/v1beta/files/http://127.0.0.1:8787/files/file0a", { linked: "file0a" }],
    ["/v1/videos/video_1/content", { id: "video_1" }],
  ] as const)("decision 0100: GET %s", (path, parameters) => {
    const match = table.find("GET", path);
    expect(match?.route).toMatchObject({ access: path.includes("files/") ? "signed" : "key", door: "dropin" });
    expect(match?.parameters).toMatchObject(parameters);
  });

  test.each([
    ["/api/genai/v1/publishers/acme/models/m:generateContent", "acme/m", "generateContent"],
    ["/api/vertex-ai/v1/publishers/acme/models/m:streamGenerateContent", "acme/m", "streamGenerateContent"],
    ["/api/genai/v1beta1/projects/p/locations/l/publishers/acme/models/m:generateContent", "acme/m", "generateContent"],
    ["/api/genai/v1beta/models/acme/m:generateContent", "acme/m", "generateContent"],
    ["/api/genai/v1beta/models/acme%2Fm:generateContent", "acme/m", "generateContent"],
    ["/api/genai/v1beta/acme/m:generateContent", "acme/m", "generateContent"],
    ["/v1beta/models/acme/m:generateContent", "acme/m", "generateContent"],
    ["/v1alpha/models/acme/m:generateContent", "acme/m", "generateContent"],
    ["/v1/publishers/acme/models/m:free:generateContent", "acme/m:free", "generateContent"],
    ["/v1beta/models/plain:generateContent", "google/plain", "generateContent"],
  ])("POST %s calls %s: the verb follows the last colon", (path, model, verb) => {
    const match = table.find("POST", path);
    expect(match?.route.dialect).toBe("genai");
    expect(DIALECTS.genai.http.readModel(match?.parameters ?? {})).toBe(model);
    expect(match?.parameters["verb"]).toBe(verb);
  });

  test("count tokens has its own handler, and a malformed escape matches no route", () => {
    const count = table.find("POST", "/api/genai/v1/publishers/a/models/m:countTokens")?.route.handle;
    const generate = table.find("POST", "/api/genai/v1/publishers/a/models/m:generateContent")?.route.handle;
    expect(count).toBeDefined();
    expect(count).not.toBe(generate);
    expect(table.find("GET", "/api/v1/models/%zz")).toBeUndefined();
  });
});
