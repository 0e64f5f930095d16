import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import {
  ApiError,
  type Content,
  FunctionCallingConfigMode,
  type GenerateContentConfig,
  GoogleGenAI,
  type Part,
} from "@google/genai";
import { GoogleGenAI as GoogleGenAIEarlier } from "genai-1";
import { type Simulator, startSimulator } from "../../../simulator.ts";

const WEATHER = {
  name: "get_weather",
  parametersJsonSchema: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
};
const TIME = { name: "get_time", parametersJsonSchema: { type: "object", properties: {} } };
const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==";

let simulator: Simulator;
let gemini: GoogleGenAI;
let vertex: GoogleGenAI;

beforeAll(async () => {
  simulator = await startSimulator({ tokenDelayMs: 0 });
  gemini = new GoogleGenAI({ apiKey: "any-key", httpOptions: { baseUrl: `${simulator.url}/gemini` } });
  vertex = new GoogleGenAI({
    vertexai: true,
    apiKey: "any-key",
    httpOptions: { baseUrl: `${simulator.url}/vertex`, apiVersion: "v1" },
  });
});
afterAll(() => simulator.stop());

interface GoogleErrorBody {
  error: { code: number; message: string; status: string; details?: { reason?: string; retryDelay?: string }[] };
}

async function refusal(body: object, model = "standard", host = "gemini"): Promise<GoogleErrorBody["error"]> {
  const base = host === "gemini" ? "gemini/v1beta" : "vertex/v1/publishers/google";
  const response = await fetch(`${simulator.url}/${base}/models/${model}:generateContent`, {
    method: "POST",
    headers: { "x-goog-api-key": "any-key", "content-type": "application/json" },
    body: JSON.stringify({ contents: [{ parts: [{ text: "hi" }] }], ...body }),
  });
  const answer = (await response.json()) as GoogleErrorBody;
  return answer.error ?? { code: response.status, message: "", status: "" };
}

const user = (text: string): Content => ({ role: "user", parts: [{ text }] });

describe("contract 2.6 to 2.8: generateContent through the vendor's SDK, on both hosts", () => {
  test("whole and streamed answers agree on Gemini, on Vertex, and with the earlier SDK", async () => {
    const request = { model: "standard", contents: "こんにちは world", config: { systemInstruction: "Be brief" } };
    const whole = await gemini.models.generateContent(request);
    expect(whole.text).toContain("こんにちは world");
    expect(whole.candidates?.[0]?.finishReason as string).toBe("STOP");
    const earlier = new GoogleGenAIEarlier({ apiKey: "any-key", httpOptions: { baseUrl: `${simulator.url}/gemini` } });
    for (const client of [gemini, vertex, earlier]) {
      const chunks = [];
      for await (const chunk of await client.models.generateContentStream(request)) chunks.push(chunk);
      expect(chunks.map((chunk) => chunk.text ?? "").join("")).toBe(whole.text ?? "");
      expect(chunks.slice(0, -1).every((chunk) => chunk.candidates?.[0]?.finishReason === undefined)).toBe(true);
      const counts = chunks.map((chunk) => chunk.usageMetadata?.candidatesTokenCount ?? 0);
      expect(counts).toEqual(counts.toSorted((left, right) => left - right));
      expect(counts.at(-1)).toBe(whole.usageMetadata?.candidatesTokenCount ?? -1);
    }
  });

  test("Gemini's events end their lines with CR LF and have no terminator; without alt=sse they are one array", async () => {
    const post = async (query: string) => {
      const response = await fetch(`${simulator.url}/gemini/v1beta/models/standard:streamGenerateContent${query}`, {
        method: "POST",
        headers: { "x-goog-api-key": "any-key" },
        body: JSON.stringify({ contents: [user("<b>hello</b>")] }),
      });
      return response.text();
    };
    const events = await post("?alt=sse");
    const lines = events.split("\r\n\r\n");
    expect(lines.pop()).toBe("");
    expect(lines.every((line) => line.startsWith('data: {"candidates": [{"content": '))).toBe(true);
    expect(events).not.toContain("<b>");
    const candidates = (value: unknown) => (value as { candidates: object[] }).candidates;
    const array = JSON.parse(await post("")) as object[];
    expect(array.map(candidates)).toEqual(lines.map((line) => candidates(JSON.parse(line.slice("data: ".length)))));
  });

  test("tools round trip with ids on Gemini and without on Vertex", async () => {
    for (const client of [gemini, vertex]) {
      const contents = [user("get_weather in Rome, and get_time")];
      const config: GenerateContentConfig = { tools: [{ functionDeclarations: [WEATHER, TIME] }] };
      const answer = await client.models.generateContent({ model: "standard", contents, config });
      const calls = answer.functionCalls ?? [];
      expect(calls.map((call) => call.name)).toEqual(["get_weather", "get_time"]);
      expect(calls[0]?.args).toEqual({ city: "Rome" });
      expect(new Set(calls.map((call) => call.id)).size).toBe(client === gemini ? 2 : 1);
      contents.push(answer.candidates?.[0]?.content ?? {});
      const results = calls.map(
        (call): Part => ({
          functionResponse: {
            ...(call.id ? { id: call.id } : {}),
            name: call.name ?? "",
            response: { output: `done ${call.name}` },
          },
        }),
      );
      contents.push({ role: "user", parts: results });
      const after = await client.models.generateContent({ model: "standard", contents, config });
      expect(after.text).toContain("done get_weather");
      expect(after.text).toContain("done get_time");
    }
  });

  test("Vertex streams arguments leaf by leaf when asked, and Gemini does not know the field", async () => {
    const body = {
      contents: [user("get_weather in Rome")],
      tools: [{ functionDeclarations: [WEATHER] }],
      toolConfig: { functionCallingConfig: { mode: "AUTO", streamFunctionCallArguments: true } },
    };
    const response = await fetch(
      `${simulator.url}/vertex/v1/projects/p/locations/global/publishers/google/models/thinker:streamGenerateContent?alt=sse`,
      { method: "POST", headers: { "x-goog-api-key": "any-key" }, body: JSON.stringify(body) },
    );
    const calls = (await response.text())
      .trim()
      .split("\r\n\r\n")
      .map((line) => JSON.parse(line.slice("data: ".length)) as { candidates: { content: Content }[] })
      .map((chunk) => chunk.candidates[0]?.content.parts?.[0]);
    expect(calls[0]).toMatchObject({ functionCall: { name: "get_weather", willContinue: true } });
    expect(calls[0]?.thoughtSignature).toBeString();
    expect(calls[1]?.functionCall).toEqual({
      partialArgs: [{ jsonPath: "$.city", stringValue: "Rome", willContinue: true }],
      willContinue: true,
    });
    expect(calls[2]?.functionCall?.partialArgs).toEqual([{ jsonPath: "$.city", stringValue: "" }]);
    expect(calls.at(-1)).toEqual({ functionCall: {} });
    expect((await refusal(body)).message).toContain('Unknown name "streamFunctionCallArguments"');
  });

  test("function calling modes are obeyed", async () => {
    const ask = async (mode: FunctionCallingConfigMode, allowedFunctionNames?: string[]) => {
      const functionCallingConfig = { mode, ...(allowedFunctionNames ? { allowedFunctionNames } : {}) };
      const config = { tools: [{ functionDeclarations: [WEATHER, TIME] }], toolConfig: { functionCallingConfig } };
      const answer = await gemini.models.generateContent({ model: "standard", contents: "get_weather", config });
      return (answer.functionCalls ?? []).map((call) => call.name);
    };
    expect(await ask(FunctionCallingConfigMode.NONE)).toEqual([]);
    expect(await ask(FunctionCallingConfigMode.ANY, ["get_time"])).toEqual(["get_time"]);
  });

  test("structured output in each of its forms", async () => {
    const ask = async (config: object) =>
      (await gemini.models.generateContent({ model: "standard", contents: "shape", config })).text ?? "";
    const openApi = { type: "OBJECT", properties: { n: { type: "INTEGER", minimum: 3, maximum: 4 } }, required: ["n"] };
    const first = JSON.parse(await ask({ responseMimeType: "application/json", responseSchema: openApi })) as {
      n: number;
    };
    expect([3, 4]).toContain(first.n);
    const jsonSchema = { type: "object", properties: { v: { const: 7 } }, required: ["v"] };
    expect(JSON.parse(await ask({ responseMimeType: "application/json", responseJsonSchema: jsonSchema }))).toEqual({
      v: 7,
    });
    const word = await ask({
      responseMimeType: "text/x.enum",
      responseSchema: { type: "STRING", enum: ["red", "green"] },
    });
    expect(["red", "green"]).toContain(word);
    expect(JSON.parse(await ask({ responseMimeType: "application/json" }))).toMatchObject({ simulated: true });
  });

  test("stop sequences, output limits and logprobs", async () => {
    const ask = (config: GenerateContentConfig) =>
      gemini.models.generateContent({ model: "standard", contents: "x", config });
    expect((await ask({ stopSequences: ["simulator"] })).text).toBe("This is Trivium's ");
    const short = await ask({ maxOutputTokens: 2 });
    expect(short.candidates?.[0]?.finishReason as string).toBe("MAX_TOKENS");
    expect(short.usageMetadata?.candidatesTokenCount).toBe(2);
    const measured = await ask({ responseLogprobs: true, logprobs: 2 });
    const result = measured.candidates?.[0]?.logprobsResult;
    expect(result?.chosenCandidates?.map((one) => one.token).join("")).toBe(measured.text ?? "");
    expect(result?.topCandidates?.[0]?.candidates).toHaveLength(2);
  });

  test("H10: inline data is looked at, in either base64 alphabet and either spelling", async () => {
    const parts = [{ inlineData: { mimeType: "image/png", data: PNG } }];
    const answer = await gemini.models.generateContent({ model: "standard", contents: [{ role: "user", parts }] });
    expect(answer.text).toContain("image/png of 1×1 pixels");
    expect(answer.usageMetadata?.promptTokensDetails?.map((one) => one.modality as string)).toContain("IMAGE");
    const urlSafe = PNG.replaceAll("+", "-").replaceAll("/", "_");
    const snake = [{ inline_data: { mime_type: "image/png", data: urlSafe } }];
    expect((await refusal({ contents: [{ parts: snake }] })).code).toBe(200);
    const wrong = [{ inlineData: { mimeType: "image/webp", data: PNG } }];
    expect((await refusal({ contents: [{ parts: wrong }] })).message).toContain("not valid image/webp");
  });

  test("countTokens, model lists and cached tokens", async () => {
    const contents = "how many tokens are these";
    const counted = await gemini.models.countTokens({ model: "standard", contents });
    const answer = await gemini.models.generateContent({ model: "standard", contents });
    expect(counted.totalTokens).toBe(answer.usageMetadata?.promptTokenCount ?? -1);
    expect((await vertex.models.countTokens({ model: "standard", contents })).totalTokens).toBe(
      counted.totalTokens ?? -1,
    );
    expect(answer.usageMetadata?.cachedContentTokenCount).toBeUndefined();
    const again = await gemini.models.generateContent({ model: "standard", contents });
    expect(again.usageMetadata?.cachedContentTokenCount).toBeGreaterThan(0);
    const names: string[] = [];
    for await (const model of await gemini.models.list({ config: { pageSize: 10 } })) names.push(model.name ?? "");
    expect(names).toContain("models/standard");
    expect(names.length).toBeGreaterThan(30);
    const published: string[] = [];
    for await (const model of await vertex.models.list()) published.push(model.name ?? "");
    expect(published).toContain("publishers/google/models/standard");
    expect((await gemini.models.get({ model: "thinker" })).thinking).toBe(true);
  });

  test("a simulated search is grounded, with offsets in bytes", async () => {
    const answer = await gemini.models.generateContent({
      model: "standard",
      contents: "search for three roads",
      config: { tools: [{ googleSearch: {} }] },
    });
    const grounding = answer.candidates?.[0]?.groundingMetadata;
    expect(grounding?.groundingChunks?.[0]?.web?.uri).toContain("example.org");
    const bytes = Buffer.from(answer.text ?? "");
    for (const support of grounding?.groundingSupports ?? []) {
      const { startIndex = 0, endIndex = 0, text = "" } = support.segment ?? {};
      expect(bytes.subarray(startIndex, endIndex).toString()).toBe(text);
    }
    expect(grounding?.groundingSupports).toHaveLength(2);
    expect(answer.usageMetadata?.toolUsePromptTokenCount).toBeGreaterThan(0);
  });
});

describe("H01: thought signatures", () => {
  const config: GenerateContentConfig = {
    tools: [{ functionDeclarations: [WEATHER] }],
    thinkingConfig: { includeThoughts: true },
  };

  async function firstTurn(): Promise<Content[]> {
    const contents = [user("get_weather in Pisa")];
    const parts: Part[] = [];
    const request = { model: "strict-thinker", contents, config };
    for await (const chunk of await gemini.models.generateContentStream(request)) {
      parts.push(...(chunk.candidates?.[0]?.content?.parts ?? []));
    }
    expect(parts[0]?.thought).toBe(true);
    const call = parts.find((part) => part.functionCall !== undefined);
    expect(call?.thoughtSignature).toBeString();
    const response = {
      functionResponse: { id: call?.functionCall?.id ?? "", name: "get_weather", response: { output: "rain" } },
    };
    return [...contents, { role: "model", parts }, { role: "user", parts: [response] }];
  }

  const body = (contents: Content[]) => ({ contents, tools: [{ functionDeclarations: [WEATHER] }] });
  const change = (contents: Content[], edit: (part: Part) => Part): Content[] =>
    contents.map((content) => ({ ...content, parts: (content.parts ?? []).map(edit) }));

  test("kept, the conversation goes on and ends with a signed empty part", async () => {
    const contents = await firstTurn();
    const parts: Part[] = [];
    const request = { model: "strict-thinker", contents, config };
    for await (const chunk of await gemini.models.generateContentStream(request)) {
      parts.push(...(chunk.candidates?.[0]?.content?.parts ?? []));
    }
    expect(parts.map((part) => part.text ?? "").join("")).toContain("rain");
    expect(parts.at(-1)).toMatchObject({ text: "" });
    expect(parts.at(-1)?.thoughtSignature).toBeString();
    const next = [...contents, { role: "model", parts }, user("thanks")];
    expect((await refusal(body(next), "strict-thinker")).code).toBe(200);
  });

  test("lost, altered or bypassed", async () => {
    const contents = await firstTurn();
    const lost = change(contents, ({ thoughtSignature, ...part }) => part);
    const missing = await refusal(body(lost), "strict-thinker");
    expect(missing).toMatchObject({ code: 400, status: "INVALID_ARGUMENT" });
    expect(missing.message).toContain("missing a thought_signature");
    expect((await refusal(body(lost), "thinker")).code).toBe(200);
    const sign = (thoughtSignature: string) =>
      change(contents, (part) => (part.functionCall === undefined ? part : { ...part, thoughtSignature }));
    expect((await refusal(body(sign("AAAA")), "strict-thinker")).message).toContain("Thought signature is not valid");
    expect((await refusal(body(sign("skip_thought_signature_validator")), "strict-thinker")).code).toBe(200);
    expect((await refusal(body(sign(btoa("skip_thought_signature_validator"))), "strict-thinker")).code).toBe(200);
    const other = change(contents, (part) =>
      part.functionCall === undefined
        ? part
        : { ...part, functionCall: { ...part.functionCall, args: { city: "Bari" } } },
    );
    expect((await refusal(body(other), "strict-thinker")).message).toContain("Thought signature is not valid");
    const urlSafe = change(contents, (part) =>
      part.thoughtSignature === undefined
        ? part
        : { ...part, thoughtSignature: part.thoughtSignature.replaceAll("+", "-").replaceAll("/", "_") },
    );
    expect((await refusal(body(urlSafe), "strict-thinker")).code).toBe(200);
  });

  test("calls of an earlier turn need no signature", async () => {
    const contents = change(await firstTurn(), ({ thoughtSignature, ...part }) => part);
    const next = [...contents, { role: "model", parts: [{ text: "It rains." }] }, user("and now?")];
    expect((await refusal(body(next), "strict-thinker")).code).toBe(200);
  });

  test("of parallel calls only the first is signed", async () => {
    const answer = await gemini.models.generateContent({
      model: "thinker",
      contents: "get_weather parallel in Pisa",
      config: { tools: [{ functionDeclarations: [WEATHER] }] },
    });
    const signed = (answer.candidates?.[0]?.content?.parts ?? []).map((part) => part.thoughtSignature !== undefined);
    expect(signed).toEqual([true, false]);
    expect(answer.usageMetadata?.thoughtsTokenCount).toBeGreaterThan(0);
  });
});

describe("providers 1.4: what the host refuses", () => {
  test("keys: a wrong key is a 400 on Gemini, a missing one a 403", async () => {
    const wrong = new GoogleGenAI({ apiKey: "wrong", httpOptions: { baseUrl: `${simulator.url}/gemini` } });
    const error = await wrong.models
      .generateContent({ model: "standard", contents: "x" })
      .catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ApiError);
    expect((error as ApiError).status).toBe(400);
    expect((error as ApiError).message).toContain("API_KEY_INVALID");
    const none = await fetch(`${simulator.url}/gemini/v1beta/models`);
    expect(none.status).toBe(403);
    const vertexNone = await fetch(`${simulator.url}/vertex/v1/publishers/google/models`);
    expect(vertexNone.status).toBe(401);
  });

  test("fields and values that it does not know", async () => {
    const said = async (body: object, host?: string) => (await refusal(body, "standard", host)).message;
    expect(await said({ provider: {} })).toBe(
      'Invalid JSON payload received. Unknown name "provider": Cannot find field.',
    );
    expect(await said({ generationConfig: { max_tokens: 1 } })).toContain(
      `Unknown name "maxTokens" at 'generation_config'`,
    );
    expect(await said({ labels: {} })).toContain('"labels"');
    expect(await said({ labels: {} }, "vertex")).toBe("");
    expect(await said({ contents: [] })).toContain("contents is not specified");
    expect(await said({ contents: [{ role: "assistant", parts: [{ text: "x" }] }] })).toContain(
      "valid role: user, model",
    );
    expect(await said({ contents: [{ parts: [{}] }] })).toContain("required oneof field 'data'");
    expect(await said({ generationConfig: { thinkingConfig: { includeThoughts: true } } })).toContain(
      "thinking is not supported",
    );
    expect(await said({ generationConfig: { responseSchema: { type: "OBJECT" } } })).toContain("application/json");
    expect((await refusal({}, "gemini-3")).code).toBe(404);
    const both = { generationConfig: { thinkingConfig: { thinkingBudget: 1, thinkingLevel: "LOW" } } };
    expect((await refusal(both, "thinker")).message).toContain("only one of thinking budget and thinking level");
  });

  test("H08: JSON Schema words in Google's own Schema", async () => {
    const declare = (parameters: object) => refusal({ tools: [{ functionDeclarations: [{ name: "f", parameters }] }] });
    const wordy = await declare({ type: "OBJECT", properties: { a: { type: "STRING", const: "x" } } });
    expect(wordy.message).toContain(
      `Unknown name "const" at 'tools[0].function_declarations[0].parameters.properties[0].value'`,
    );
    expect((await declare({ type: "object", additionalProperties: false })).code).toBe(400);
    expect((await declare({ type: ["string", "null"] })).message).toContain("cannot start list");
    expect((await declare({ type: "OBJECT", properties: { a: { type: "STRING" } } })).code).toBe(200);
  });

  test("function responses that do not match their calls", async () => {
    const call = (name: string): Part => ({ functionCall: { name, args: {} } });
    const response = (name: string): Part => ({ functionResponse: { name, response: { output: 1 } } });
    const said = async (...contents: Content[]) => (await refusal({ contents: [user("x"), ...contents] })).message;
    const two: Content = { role: "model", parts: [call("a"), call("b")] };
    expect(await said(two, { role: "user", parts: [response("a")] })).toContain("number of function response parts");
    expect(await said(two, user("never mind"))).toContain("number of function response parts");
    expect(await said({ role: "user", parts: [response("a")] })).toContain("immediately after a function call turn");
    expect(await said(two, { role: "user", parts: [response("a"), response("c")] })).toContain("`c`");
    expect(await said(two, { role: "user", parts: [response("b"), response("a")] })).toBe("");
  });
});
