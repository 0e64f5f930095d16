import type { DialectName } from "../src/canon/dialect-name.ts";
import { SAMPLED_DIALECTS, type SampledDialect } from "./sampled-dialects.ts";

export const DIALECTS: readonly SampledDialect[] = SAMPLED_DIALECTS;

export interface CallOptions {
  door?: "contract" | "dropin";
  model?: string;
  stream?: boolean;
  body?: Record<string, unknown>;
  headers?: Record<string, string>;
  signal?: AbortSignal;
  key?: string;
}

/** URLs, headers and smallest bodies of the protocols, as a client without an SDK would send them. */
export function buildCall(
  base: string,
  dialect: DialectName,
  key: string,
  options: CallOptions = {},
): [string, RequestInit] {
  const { door = "contract", stream = false } = options;
  const model = options.model ?? `test/${dialect}`;
  const contract = door === "contract";
  const init = (headers: Record<string, string>, body: object): RequestInit => ({
    method: "POST",
    headers: { "content-type": "application/json", ...headers, ...options.headers },
    body: JSON.stringify({ ...body, ...options.body }),
    ...(options.signal ? { signal: options.signal } : {}),
  });
  const bearer = { authorization: `Bearer ${options.key ?? key}` };
  switch (dialect) {
    case "chat":
      return [
        `${base}${contract ? "/api/v1" : "/v1"}/chat/completions`,
        init(bearer, { model, stream, messages: [{ role: "user", content: "hello" }] }),
      ];
    case "responses":
      return [`${base}${contract ? "/api/v1" : "/v1"}/responses`, init(bearer, { model, stream, input: "hello" })];
    case "interactions":
      return [
        `${base}${contract ? "/api/genai" : ""}/v1beta/interactions`,
        init(bearer, { model, stream, input: "hello" }),
      ];
    case "messages":
      return [
        `${base}${contract ? "/api/msg" : ""}/v1/messages`,
        init(
          { "x-api-key": options.key ?? key, "partner-version": "2023-06-01" },
          { model, stream, max_tokens: 100, messages: [{ role: "user", content: "hello" }] },
        ),
      ];
    case "genai": {
      const [publisher, name] = model.split("/");
      const verb = stream ? "streamGenerateContent?alt=sse" : "generateContent";
      return [
        `${base}${contract ? "/api/genai" : ""}/v1/publishers/${publisher}/models/${name}:${verb}`,
        init(bearer, { contents: [{ role: "user", parts: [{ text: "hello" }] }] }),
      ];
    }
  }
}
