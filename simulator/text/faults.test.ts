import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { eventually } from "../../testing/eventually.ts";
import { pause, type Wait } from "../play.ts";
import { type Simulator, startSimulator } from "../simulator.ts";
import type { Rendered } from "./adapter.ts";
import { streamSteps } from "./deliver.ts";

let simulator: Simulator;
/** The pauses of the simulator, in milliseconds. */
let waits: number[] = [];
/** Undefined for pauses in real time; otherwise they last until this, or until their client leaves. */
let held: Promise<void> | undefined;

beforeAll(async () => {
  const wait: Wait = (ms, signal) => {
    waits.push(ms);
    const left = new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
    return held === undefined ? pause(ms, signal) : Promise.race([held, left]);
  };
  simulator = await startSimulator({ tokenDelayMs: 0, wait });
});
beforeEach(() => {
  waits = [];
  held = undefined;
});
afterAll(() => simulator.stop());

const HOSTS = ["openai", "anthropic", "gemini", "vertex"] as const;
type HostName = (typeof HOSTS)[number];

interface Ask {
  stream?: boolean;
  key?: string;
  text?: string;
  signal?: AbortSignal;
  fields?: object;
}

function ask(host: HostName, model: string, options: Ask = {}): Promise<Response> {
  const { stream = true, key = "any-key", text = "Tell me about the three roads", fields = {} } = options;
  const send = (path: string, headers: Record<string, string>, body: object): Promise<Response> =>
    fetch(`${simulator.url}${path}`, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify({ ...body, ...fields }),
      ...(options.signal === undefined ? {} : { signal: options.signal }),
    });
  const messages = [{ role: "user", content: text }];
  switch (host) {
    case "openai":
      return send("/openai/v1/chat/completions", { authorization: `Bearer ${key}` }, { model, stream, messages });
    case "anthropic":
      return send(
        "/anthropic/v1/messages",
        { "x-api-key": key, "anthropic-version": "2023-06-01" },
        { model, stream, max_tokens: 1_000, messages },
      );
    default: {
      const base = host === "gemini" ? "/gemini/v1beta" : "/vertex/v1/publishers/google";
      const verb = stream ? "streamGenerateContent?alt=sse" : "generateContent";
      return send(`${base}/models/${model}:${verb}`, { "x-goog-api-key": key }, { contents: [{ parts: [{ text }] }] });
    }
  }
}

/** All that arrives until the body ends or breaks. */
async function drain(response: Response): Promise<{ text: string; broken: boolean; chunks: number }> {
  const decoder = new TextDecoder();
  let text = "";
  let chunks = 0;
  try {
    for await (const chunk of response.body ?? []) {
      text += decoder.decode(chunk, { stream: true });
      chunks += 1;
    }
  } catch {
    return { text, broken: true, chunks };
  }
  return { text, broken: false, chunks };
}

const TERMINAL: Record<HostName, string> = {
  openai: "[DONE]",
  anthropic: "message_stop",
  gemini: "finishReason",
  vertex: "finishReason",
};

/** The text of the response that arrived. */
function textIn(stream: string): string {
  const strings = [...stream.matchAll(/"(?:text|content)": ?("(?:[^"\\]|\\.)*")/g)];
  return strings.map((match) => JSON.parse(match[1] ?? '""') as string).join("");
}

const OPENING = "This is Trivium's simulator";

const isEventEnd = (text: string): boolean => /\r?\n\r?\n$/.test(text);

describe.each(HOSTS)("providers 5: faults of %s", (host) => {
  test("plain failures have their status and a JSON body, streaming or not", async () => {
    for (const status of [400, 401, 403, 404, 413, 429, 500, 503, 529]) {
      for (const stream of [true, false]) {
        const response = await ask(host, `fail-${status}`, { stream });
        // Gemini calls a bad key an invalid argument.
        expect(response.status).toBe(host === "gemini" && status === 401 ? 400 : status);
        expect(response.headers.get("content-type")).toContain("application/json");
        expect(await response.json()).toHaveProperty("error.message");
      }
    }
  });

  test("429 carries a hint to retry, 429-quota does not", async () => {
    const hint = async (model: string): Promise<string> => {
      const response = await ask(host, model);
      expect(response.status).toBe(429);
      return `${response.headers.get("retry-after") ?? ""} ${/"retryDelay": "(.*)"/.exec(await response.text())?.[1] ?? ""}`;
    };
    expect((await hint("fail-429")).trim()).toMatch(/^1s?$/);
    expect((await hint("fail-429-quota")).trim()).toBe("");
  });

  test("an unknown name is the host's 404", async () => {
    expect((await ask(host, "no-such-model")).status).toBe(404);
    expect((await ask(host, "silent-9999")).status).toBe(404);
    expect((await ask(host, "constructor")).status).toBe(404);
  });

  test("flaky fails so many times for each key, works once, and begins again", async () => {
    const statuses = [];
    for (let turn = 0; turn < 6; turn += 1)
      statuses.push((await ask(host, "flaky-2", { key: `flaky ${host}` })).status);
    expect(statuses).toEqual([503, 503, 200, 503, 503, 200]);
    expect((await ask(host, "flaky-2", { key: `other ${host}` })).status).toBe(503);
  });

  test("late: nothing at all for a second; silent: headers at once, the rest after a second", async () => {
    const release = Promise.withResolvers<void>();
    held = release.promise;
    let answered = 0;
    const late = [ask(host, "slow-first-byte-1"), ask(host, "slow-headers-1", { stream: false })].map((one) =>
      one.then((response) => {
        answered++;
        return response;
      }),
    );
    const silent = await Promise.all([true, false].map((stream) => ask(host, "silent-1", { stream })));
    await eventually("all to wait", () => waits.length === 4, { seen: () => waits });
    expect(waits).toEqual([1_000, 1_000, 1_000, 1_000]);
    expect(answered).toBe(0);
    release.resolve();
    const [firstByte = "", headers = "", stream = "", whole = ""] = await Promise.all(
      [...(await Promise.all(late)), ...silent].map(async (response) => {
        const { text, broken } = await drain(response);
        expect([response.status, broken]).toEqual([200, false]);
        return text;
      }),
    );
    expect(firstByte).toContain(TERMINAL[host]);
    expect(stream).toContain(TERMINAL[host]);
    for (const text of [headers, whole]) expect(JSON.parse(text)).toBeObject();
  });

  test("cuts: before anything, inside an event, and between events", async () => {
    await expect(ask(host, "cut-before-first").then((response) => response.text())).rejects.toThrow();
    const inside = await drain(await ask(host, "cut-mid-event"));
    expect(inside.broken).toBe(true);
    expect(textIn(inside.text)).toStartWith(OPENING);
    expect(isEventEnd(inside.text)).toBe(false);
    const between = await drain(await ask(host, "cut-mid-stream"));
    expect(between.broken).toBe(true);
    expect(isEventEnd(between.text)).toBe(true);
    expect(between.text).not.toContain(TERMINAL[host]);
    const whole = await drain(await ask(host, "cut-mid-stream", { stream: false }));
    expect(whole.broken).toBe(true);
    expect(whole.text.length).toBeGreaterThan(50);
  });

  test("H16: a polite end without the terminal event", async () => {
    const { text, broken } = await drain(await ask(host, "close-mid-stream"));
    expect(broken).toBe(false);
    expect(textIn(text)).toStartWith(OPENING);
    expect(isEventEnd(text)).toBe(true);
    expect(text).not.toContain(TERMINAL[host]);
  });

  test("an error in mid-stream, and as the first event of a 200", async () => {
    const later = await drain(await ask(host, "error-in-stream"));
    expect(textIn(later.text)).toStartWith(OPENING);
    expect(later.text).toContain('"error"');
    expect(later.text).not.toContain(TERMINAL[host]);
    const first = await ask(host, "error-first-event");
    expect(first.status).toBe(200);
    const { text } = await drain(first);
    expect(text.startsWith(host === "anthropic" ? "event: error\n" : 'data: {"error"')).toBe(true);
    expect((await ask(host, "error-in-stream", { stream: false })).status).toBe(500);
    const wholeFirst = await ask(host, "error-first-event", { stream: false });
    expect(wholeFirst.status).toBe(200);
    expect(await wholeFirst.json()).toHaveProperty("error");
  });

  test("garbage: a page of HTML, and a frame that is not JSON among good ones", async () => {
    const page = await ask(host, "garbage");
    expect(page.status).toBe(200);
    expect(page.headers.get("content-type")).toContain("text/html");
    expect(await page.text()).toStartWith("<!DOCTYPE html>");
    const { text } = await drain(await ask(host, "garbage-in-stream"));
    const data = [...text.matchAll(/^data: (\{.*)$/gm)].map((match) => match[1] ?? "");
    const bad = data.filter((line) => {
      try {
        JSON.parse(line);
        return false;
      } catch {
        return true;
      }
    });
    expect(bad).toHaveLength(1);
    expect(text).toContain(TERMINAL[host]);
    const whole = await ask(host, "garbage-in-stream", { stream: false });
    await expect(whole.json()).rejects.toThrow();
  });

  test("H07: drip sends the same bytes as standard, in far more chunks; crlf changes line ends only", async () => {
    const plain = (text: string): string =>
      text
        .replace(/"(created|cached\w*Count)": ?\d+,?/g, "")
        .replace(/"createTime": ?"[^"]*",?/g, "")
        .replace(/"cacheTokensDetails": ?\[[^\]]*\],?/g, "")
        .replaceAll(/drip|crlf|standard/g, "model")
        .replaceAll("\r\n", "\n");
    const standard = await drain(await ask(host, "standard"));
    const drip = await drain(await ask(host, "drip"));
    const crlf = await drain(await ask(host, "crlf"));
    expect(plain(drip.text)).toBe(plain(standard.text));
    // A byte is written at a time; how many of them arrive together is up to the sockets.
    expect(drip.chunks).toBeGreaterThan(2 * standard.chunks);
    expect(plain(crlf.text)).toBe(plain(standard.text));
    expect(crlf.text.replaceAll("\r\n", "")).not.toContain("\n");
  });

  test("a faulty model begins the same answer that standard finishes", async () => {
    const begun = textIn((await drain(await ask(host, "close-mid-stream"))).text);
    const whole = textIn((await drain(await ask(host, "standard"))).text);
    expect(begun.length).toBeGreaterThan(20);
    expect(whole.length).toBeGreaterThan(begun.length);
    expect(whole).toStartWith(begun);
  });

  test("answers that are not answers: empty, refusal, blocked, cut short, huge", async () => {
    const whole = async (model: string): Promise<string> =>
      JSON.stringify(await (await ask(host, model, { stream: false })).json());
    const google = { empty: '"finishReason":"STOP"', refusal: '"SAFETY"', short: '"MAX_TOKENS"' };
    const expected = {
      openai: { empty: '"content":""', refusal: '"refusal":"This', short: '"length"' },
      anthropic: { empty: '"content":[]', refusal: '"stop_reason":"refusal"', short: '"max_tokens"' },
      gemini: google,
      vertex: google,
    }[host];
    expect(await whole("empty")).toContain(expected.empty);
    expect(await whole("refusal")).toContain(expected.refusal);
    expect(await whole("max-tokens")).toContain(expected.short);
    expect(await whole("blocked-prompt")).toContain(
      host === "gemini" || host === "vertex" ? "promptFeedback" : '"error"',
    );
    for (const model of ["empty", "refusal", "max-tokens"]) {
      expect((await drain(await ask(host, model))).text).toContain(TERMINAL[host]);
    }
    const huge = await drain(await ask(host, "huge"));
    expect(huge.broken).toBe(false);
    expect(huge.text.length).toBeGreaterThan(2_000_000);
    expect(huge.text).toContain(TERMINAL[host]);
  });

  test("H14: no-usage says nothing of usage", async () => {
    for (const stream of [true, false]) {
      const fields = host === "openai" && stream ? { stream_options: { include_usage: true } } : {};
      const { text } = await drain(await ask(host, "no-usage", { stream, fields }));
      expect(text).not.toMatch(/_tokens"|TokenCount/);
      expect(textIn(text)).toStartWith(OPENING);
    }
  });

  test("H13: a client that leaves stops the answer at once and is counted", async () => {
    held = new Promise(() => {});
    const before = simulator.stats();
    expect(before.openRequests).toBe(0);
    const controller = new AbortController();
    const { signal } = controller;
    const leaving = [
      ask(host, "slow-headers-9", { signal }),
      ask(host, "slow-first-byte", { stream: false, signal }),
      ask(host, "stall-mid-stream", { signal }),
      ask(host, "stall-mid-stream", { stream: false, signal }),
      ask(host, "slow", { signal }),
    ].map((response) => response.then(drain).catch(() => undefined));
    await eventually("five open requests", () => simulator.stats().openRequests === 5);
    controller.abort();
    await Promise.all(leaving);
    await eventually("no open request", () => simulator.stats().openRequests === 0);
    expect(simulator.stats().aborted).toBe(before.aborted + 5);
  });

  test("echo-request shows what arrived, even what the host would refuse, but no key", async () => {
    const fields = { provider: { type: "priority" } };
    const response = await ask(host, "echo-request", { stream: false, key: "a-secret-key", fields });
    const text = JSON.stringify(await response.json());
    expect(text).toContain("priority");
    expect(text).toContain("content-type");
    expect(text).not.toContain("a-secret-key");
    expect((await drain(await ask(host, "echo-request"))).text).toContain(TERMINAL[host]);
  });
});

describe("quirks of chat completions", () => {
  const tools = ["one", "two"].map((name) => ({
    type: "function",
    function: { name, parameters: { type: "object", properties: {} } },
  }));

  test("H03: parallel-same-index gives distinct calls one index", async () => {
    const { text } = await drain(await ask("openai", "parallel-same-index", { fields: { tools } }));
    const heads = [...text.matchAll(/"tool_calls":\[\{"index":(\d),"id":"(call_\w+)"/g)];
    expect(heads.map((match) => match[1])).toEqual(["0", "0"]);
    expect(new Set(heads.map((match) => match[2])).size).toBe(2);
  });

  test("no-done ends with its finish chunk", async () => {
    const { text } = await drain(await ask("openai", "no-done"));
    expect(text).toContain('"finish_reason":"stop"');
    expect(text).not.toContain("[DONE]");
  });
});

test("slow speaks 40 tokens a second", async () => {
  await drain(await ask("openai", "slow", { fields: { max_completion_tokens: 12 } }));
  expect(waits.reduce((sum, ms) => sum + ms, 0)).toBe(12 * 25);
});

test("contract 1: all hosts say the same for the same request", async () => {
  const answers = [];
  for (const host of HOSTS) {
    const text = await (await ask(host, "standard", { stream: false, text: "Same words?" })).text();
    answers.push(/This is Trivium's simulator[^"]*/.exec(text)?.[0]);
  }
  expect(answers[0]).toContain("Same words?");
  expect(new Set(answers).size).toBe(1);
});

test("contract 1: how the history is cut into parts does not change the answer", async () => {
  const messages = [
    { role: "user", content: "First" },
    { role: "assistant", content: "One and two" },
    { role: "user", content: "Second" },
  ];
  const contents = [
    { role: "user", parts: [{ text: "First" }] },
    { role: "model", parts: [{ text: "hm", thought: true }, { text: "One " }, { text: "and two" }, { text: "" }] },
    { role: "user", parts: [{ text: "Second" }] },
  ];
  const answers = [];
  for (const host of HOSTS) {
    const fields = host === "gemini" || host === "vertex" ? { contents } : { messages };
    answers.push(textIn(await (await ask(host, "standard", { stream: false, fields })).text()));
  }
  expect(answers[0]).toContain("3 turns");
  expect(new Set(answers).size).toBe(1);
});

test("an own key is demanded exactly, and the last request can be looked at", async () => {
  const own = await startSimulator({ apiKey: "right", tokenDelayMs: 0 });
  try {
    const list = (key: string): Promise<Response> =>
      fetch(`${own.url}/openai/v1/models`, { headers: { authorization: `Bearer ${key}` } });
    expect((await list("right")).status).toBe(200);
    expect((await list("right ")).status).toBe(200);
    expect((await list("nearly right")).status).toBe(401);
    expect(own.stats()).toMatchObject({
      requests: 3,
      openRequests: 0,
      last: { method: "GET", path: "/openai/v1/models" },
    });
    expect((await fetch(own.url)).status).toBe(404);
  } finally {
    await own.stop();
  }
});

test("H07: drip sends one byte at a time", () => {
  const frame = { text: "data: é\n\n", content: true };
  const rendered = { frames: () => [frame, frame] } as unknown as Rendered;
  const sent = [...streamSteps(rendered, { kind: "drip" }, () => 0)].flatMap((step) =>
    "send" in step ? [step.send] : [],
  );
  expect(sent.every(({ length }) => length === 1)).toBe(true);
  expect(Buffer.concat(sent).toString()).toBe(frame.text + frame.text);
});
