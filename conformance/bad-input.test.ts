import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { buildCall } from "../testing/build-call.ts";
import { eventually } from "../testing/eventually.ts";
import { SCRIPTED_DIALECTS, type ScriptedDialect } from "../testing/sampled-dialects.ts";
import { modelsOfEveryDialect } from "../testing/scripted-models.ts";
import { beginCall, callGateway, errorOf } from "./support/client-calls.ts";
import { type ScriptedUpstream, sendJson, startScriptedUpstream } from "./support/scripted-upstream.ts";
import { startTestGateway, type TestGateway } from "./support/test-gateway.ts";

let upstream: ScriptedUpstream;
let gateway: TestGateway;
/**
 * A gateway that waits only briefly for a body. On a busy machine the others would mistake their own delay for the
 * client's.
 */
let impatient: TestGateway;

beforeAll(async () => {
  upstream = await startScriptedUpstream();
  upstream.play(
    (_request, response) =>
      void sendJson(response, {
        id: "x",
        object: "chat.completion",
        created: 1,
        model: "m",
        choices: [{ index: 0, message: { role: "assistant", content: "ok" }, finish_reason: "stop" }],
        candidates: [],
        type: "message",
        role: "assistant",
        content: [],
        stop_reason: "end_turn",
        status: "completed",
        output: [],
        usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2, input_tokens: 1, output_tokens: 1 },
      }),
  );
  const config = modelsOfEveryDialect(upstream.url);
  gateway = await startTestGateway({ config });
  impatient = await startTestGateway({ config, timings: { bodyStallMs: 700 } });
});
afterAll(async () => {
  await gateway.stop();
  await impatient.stop();
  await upstream.stop();
});

/** What each protocol calls these kinds of error (choices 4). */
const NAMES: Record<ScriptedDialect, Record<"invalid" | "unauthenticated" | "missing" | "large", string>> = {
  chat: {
    invalid: "invalid_request_error",
    unauthenticated: "authentication_error",
    missing: "not_found_error",
    large: "invalid_request_error",
  },
  messages: {
    invalid: "invalid_request_error",
    unauthenticated: "authentication_error",
    missing: "not_found_error",
    large: "request_too_large",
  },
  responses: {
    invalid: "invalid_request_error",
    unauthenticated: "authentication_error",
    missing: "not_found_error",
    large: "invalid_request_error",
  },
  genai: {
    invalid: "INVALID_ARGUMENT",
    unauthenticated: "UNAUTHENTICATED",
    missing: "NOT_FOUND",
    large: "INVALID_ARGUMENT",
  },
};

async function send(
  dialect: ScriptedDialect,
  body: NonNullable<RequestInit["body"]>,
  headers: Record<string, string> = {},
) {
  const [url, init] = buildCall(gateway.url, dialect, gateway.key, { headers });
  return fetch(url, { ...init, body });
}

for (const dialect of SCRIPTED_DIALECTS) {
  const names = NAMES[dialect];
  describe(`${dialect}: bad input gets a clear error in the caller's protocol`, () => {
    test("not JSON, not an object, not UTF-8, empty", async () => {
      for (const body of ["{", "[1]", '"x"', "", "null", new Uint8Array([0x7b, 0x22, 0xff, 0x22, 0x7d])]) {
        const error = await errorOf(await send(dialect, body));
        expect(error).toMatchObject({ status: 400, type: names.invalid });
        expect(error.message).toMatch(/JSON|UTF-8/);
      }
    });

    test("choices 2: another content type is 415", async () => {
      const error = await errorOf(await send(dialect, "a=b", { "content-type": "application/x-www-form-urlencoded" }));
      expect(error.status).toBe(415);
      expect(error.message).toContain("application/json");
    });

    test("a wrong type names its path, what was found and what is expected", async () => {
      const wrong = {
        chat: { temperature: "hot" },
        messages: { temperature: 1.5 },
        responses: { temperature: "hot" },
        genai: { generationConfig: { stopSequences: ["1", "2", "3", "4", "5", "6"] } },
      }[dialect];
      const error = await errorOf(await callGateway(gateway.url, dialect, gateway.key, { body: wrong }));
      expect(error).toMatchObject({ status: 400, type: names.invalid });
      expect(error.message).toMatch(
        {
          chat: /^temperature .*number.*"hot"/,
          messages: /^temperature .*0.*1.*1\.5/,
          responses: /^temperature .*number.*"hot"/,
          genai: /^generationConfig\.stopSequences .*at most 5/,
        }[dialect],
      );
    });

    test("an unknown model is a 404 that suggests similar names", async () => {
      const error = await errorOf(await callGateway(gateway.url, dialect, gateway.key, { model: `test/${dialect}x` }));
      expect(error).toMatchObject({ status: 404, type: names.missing });
      expect(error.message).toContain(`test/${dialect}`);
    });

    test("no key, a malformed key, an unknown key: 401", async () => {
      for (const key of ["", "nonsense", `sk-trv-${"z".repeat(43)}`]) {
        const error = await errorOf(await callGateway(gateway.url, dialect, gateway.key, { key }));
        expect(error).toMatchObject({ status: 401, type: names.unauthenticated });
        if (key) expect(error.raw).not.toContain(key);
      }
    });

    test("choices 2: a key in the URL is refused with the reason", async () => {
      const [url, init] = buildCall(gateway.url, dialect, gateway.key);
      const error = await errorOf(await fetch(`${url}?key=${gateway.key}`, init));
      expect(error.status).toBe(400);
      expect(error.message).toContain("logs");
    });

    test("a body over the limit is 413, by its declared length and while it is read", async () => {
      const big = "x".repeat(70 * 1024 * 1024);
      const known = await errorOf(await send(dialect, big));
      expect(known).toMatchObject({ status: 413, type: names.large });
      expect(known.message).toContain("64 MB");
      const unknown = await errorOf(
        await send(
          dialect,
          new ReadableStream({
            type: "bytes",
            pull: (controller) => controller.enqueue(new Uint8Array(4 * 1024 * 1024)),
          }),
        ),
      );
      expect(unknown).toMatchObject({ status: 413, type: names.large });
    });

    test("a body whose declared length is far over the limit is refused before it is sent", async () => {
      const socket = beginCall(buildCall(gateway.url, dialect, gateway.key), 9_000_000_000);
      socket.write("{");
      let answer = "";
      for await (const part of socket) answer += part;
      expect(answer).toStartWith("HTTP/1.1 413");
      expect(answer).toContain(names.large);
    });

    test("half a body that stalls is abandoned while others are served", async () => {
      const socket = beginCall(buildCall(impatient.url, dialect, impatient.key), 1000);
      socket.write('{"model":');
      let answer = "";
      socket.on("data", (part) => {
        answer += part.toString();
      });
      expect((await callGateway(impatient.url, dialect, impatient.key)).status).toBe(200);
      await eventually("the refusal", () => answer.includes("stopped arriving"), { seen: () => answer });
      socket.destroy();
      expect(answer).toStartWith("HTTP/1.1 400");
      expect(answer).toContain("stopped arriving");
      expect(answer).toContain(names.invalid);
    });
  });
}

describe("messages headers (contract 5, 9)", () => {
  const call = (headers: Record<string, string>) => {
    const [url, init] = buildCall(gateway.url, "messages", gateway.key);
    const { "partner-version": _version, ...rest } = init.headers as Record<string, string>;
    return fetch(url, { ...init, headers: { ...rest, ...headers } });
  };

  test("the version header is required and has one valid value; the vendor's name for it has two", async () => {
    expect((await errorOf(await call({}))).message).toContain("partner-version: 2023-06-01");
    expect((await errorOf(await call({ "partner-version": "2024-01-01" }))).status).toBe(400);
    expect((await errorOf(await call({ "anthropic-version": "2022-01-01" }))).status).toBe(400);
    for (const headers of [
      { "partner-version": "2023-06-01" },
      { "anthropic-version": "2023-06-01" },
      { "anthropic-version": "2026-10-21" },
    ]) {
      expect((await call(headers)).status).toBe(200);
    }
  });

  test("the code-execution beta is refused in either header; others are forwarded", async () => {
    for (const header of ["partner-beta", "anthropic-beta"]) {
      const error = await errorOf(
        await call({ "partner-version": "2023-06-01", [header]: "a-1,code-execution-2025-08-25" }),
      );
      expect(error).toMatchObject({ status: 400, type: "invalid_request_error" });
    }
    await call({ "partner-version": "2023-06-01", "partner-beta": "a-1", "anthropic-beta": "b-2, a-1" });
    expect(upstream.seen.at(-1)?.headers["anthropic-beta"]).toBe("a-1,b-2");
  });

  test("contract 5: its name matches in any case and with surrounding spaces, and its tool is refused without it too (S15)", async () => {
    const before = upstream.seen.length;
    for (const beta of [
      "CODE-EXECUTION-2025-08-25",
      "a-1 ,\tCode-Execution-2025-08-25 ",
      "code-execution-2025-05-22",
    ]) {
      const error = await errorOf(await call({ "partner-version": "2023-06-01", "anthropic-beta": beta }));
      expect(error).toMatchObject({ status: 400, type: "invalid_request_error" });
    }
    for (const type of ["code_execution_20250825", "code_execution_20260120", "CODE_EXECUTION_20250825"]) {
      const body = { tools: [{ type, name: "code_execution" }] };
      const error = await errorOf(await callGateway(gateway.url, "messages", gateway.key, { body }));
      expect(error).toMatchObject({ status: 400, type: "invalid_request_error" });
      expect(error.message).toContain("tools[0].type");
    }
    expect(upstream.seen.length).toBe(before);
  });

  test("decision 0083: elsewhere code execution passes in every version, with its beta", async () => {
    for (const type of ["code_execution_20250522", "code_execution_20250825", "code_execution_20260521"]) {
      const body = { tools: [{ type, name: "code_execution" }] };
      const headers = { "anthropic-beta": "code-execution-2025-08-25" };
      const options = { door: "dropin", body, headers } as const;
      expect((await callGateway(gateway.url, "messages", gateway.key, options)).status).toBe(200);
      expect(JSON.parse(upstream.seen.at(-1)?.body ?? "")).toMatchObject(body);
      expect(upstream.seen.at(-1)?.headers["anthropic-beta"]).toBe("code-execution-2025-08-25");
    }
  });

  test("choices 4: a beta that no header can carry is reported as the client's mistake, not the provider's", async () => {
    for (const header of ["partner-beta", "anthropic-beta"]) {
      for (const value of ["caf\u00e9", "a-1, b\u00df", "a b"]) {
        const before = upstream.seen.length;
        const error = await errorOf(await call({ "partner-version": "2023-06-01", [header]: value }));
        expect(error).toMatchObject({ status: 400, type: "invalid_request_error" });
        expect(error.message).toContain(header);
        expect(upstream.seen.length).toBe(before);
      }
    }
  });

  test("100,001 messages are refused", async () => {
    const messages = Array.from({ length: 100_001 }, () => ({ role: "user", content: "x" }));
    const error = await errorOf(await callGateway(gateway.url, "messages", gateway.key, { body: { messages } }));
    expect(error.message).toMatch(/messages .*100,?000/);
  });
});

describe("endpoints (choices 1)", () => {
  test("an unknown path is a 404 in the protocol that it resembles; a wrong method gets the right one", async () => {
    const at = async (path: string, method = "POST") =>
      (await fetch(gateway.url + path, { method, headers: { "content-type": "application/json" } })).json() as Promise<
        Record<string, unknown>
      >;
    expect(await at("/api/v1/nothing")).toMatchObject({ error: { type: "not_found_error", param: null } });
    expect(await at("/api/msg/v1/nothing")).toMatchObject({ type: "error", error: { type: "not_found_error" } });
    expect(await at("/api/genai/v1/nothing")).toMatchObject({ error: { code: 404, status: "NOT_FOUND" } });
    expect(await at("/v1beta/models/google/x:paint")).toMatchObject({ error: { code: 404, status: "NOT_FOUND" } });
    expect(JSON.stringify(await at("/api/v1/chat/completions", "GET"))).toContain("takes POST");
  });

  test("contract 2.12: only the contract door refuses fields and names their replacement", async () => {
    const error = await errorOf(await callGateway(gateway.url, "chat", gateway.key, { body: { max_tokens: 5 } }));
    expect(error.raw).toContain('"code":"unsupported_parameter"');
    expect(error.message).toContain("max_completion_tokens");
    expect(
      (await callGateway(gateway.url, "chat", gateway.key, { door: "dropin", body: { max_tokens: 5 } })).status,
    ).toBe(200);
  });

  test("model lists need no key, but reject a wrong one", async () => {
    for (const path of [
      "/api/v1/models",
      "/api/msg/v1/models",
      "/api/genai/v1beta/models",
      "/v1/models",
      "/v1beta/models",
      "/api/genai/v1/publishers/google/models",
      "/api/v1/models/test%2Fchat",
      "/api/msg/v1/models/test%2Fmessages",
      "/api/genai/v1/publishers/test/models/genai",
    ]) {
      expect((await fetch(gateway.url + path)).status).toBe(200);
      expect((await fetch(gateway.url + path, { headers: { authorization: "Bearer wrong" } })).status).toBe(401);
    }
    expect(
      await (await fetch(`${gateway.url}/v1/models`, { headers: { "anthropic-version": "2023-06-01" } })).json(),
    ).toHaveProperty("has_more");
  });
});

test("a revoked key is refused within a second, with the reason", async () => {
  const admin = { authorization: `Bearer ${gateway.adminSecret}`, "content-type": "application/json" };
  const made = await fetch(`${gateway.adminUrl}/api/keys`, {
    method: "POST",
    headers: admin,
    body: '{"name":"short-lived"}',
  });
  const { data } = (await made.json()) as { data: { id: string; key: string } };
  expect((await callGateway(gateway.url, "chat", data.key)).status).toBe(200);
  await fetch(`${gateway.adminUrl}/api/keys/${data.id}`, { method: "DELETE", headers: admin });
  const error = await errorOf(await callGateway(gateway.url, "chat", data.key));
  expect(error).toMatchObject({ status: 401 });
  expect(error.message).toContain("revoked");
});

describe.each([...SCRIPTED_DIALECTS])("S18: %s", (dialect) => {
  test("a body of very many tiny values is refused before it is parsed", async () => {
    const body = `{"model":"test/${dialect}","messages":[${"{},".repeat(1_100_000)}{}]}`;
    const error = await errorOf(await send(dialect, body));
    expect(error).toMatchObject({ status: 413, type: NAMES[dialect].large });
    expect(error.message).toContain("more than 1000000 JSON values");
  });
});
