import { buildCall } from "../../testing/build-call.ts";
import { TEST_KEY } from "../../testing/test-key.ts";
import { sendJson } from "../support/scripted-upstream.ts";
import { TEST_ADMIN_SECRET } from "../support/test-gateway.ts";
import type { Cheat, CheatGroup, Outcome } from "./cheat.ts";
import { ProgramHarness } from "./program-harness.ts";
import { exchange, open, requestBytes, statusesOf } from "./rude-client.ts";

const ANSWER = {
  choices: [{ index: 0, message: { role: "assistant", content: "hi" }, finish_reason: "stop" }],
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
};
const SILENCE_MS = 20_000;

/** S16, S21, S15, S11: attacks on the port itself, with a key and without one. */
export async function openDoors(): Promise<CheatGroup> {
  const harness = await ProgramHarness.start();
  harness.upstream.play((_request, response) => void sendJson(response, ANSWER));
  return {
    cheats: [...silences(harness), ...guesses(harness), ...heads(harness)],
    atOnce: true,
    close: () => harness.stop(),
  };
}

/** Connections that send nothing, or almost nothing. */
function silences(harness: ProgramHarness): Cheat[] {
  const count = 100;
  const ways: Record<string, { bytes: string; drip?: string }> = {
    "send nothing": { bytes: "" },
    "ask for /healthz once": { bytes: "GET /healthz HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n" },
    "send half a head": { bytes: "POST /api/v1/chat/completions HTTP/1.1\r\nhost: 127.0.0.1\r\n" },
    "trickle a head": { bytes: "GET /healthz HTTP/1.1\r\nhost: 127.0.0.1\r\n", drip: "x: y\r\n" },
    "announce a body with a wrong key": {
      bytes:
        "POST /api/v1/chat/completions HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer wrong\r\ncontent-type: application/json\r\ncontent-length: 60000000\r\n\r\n{",
    },
  };
  return Object.entries(ways).map(([way, { bytes, drip }]) => ({
    id: "S16",
    tries: `${count} strangers' connections ${way}, then wait`,
    run: async (): Promise<Outcome> => {
      let closed = 0;
      const startedMs = performance.now();
      const sockets = Array.from({ length: count }, () => {
        const socket = open(harness.url);
        socket.on("close", () => closed++);
        socket.on("data", () => {});
        if (bytes) socket.write(bytes);
        return socket;
      });
      while (closed < count && performance.now() - startedMs < SILENCE_MS) {
        await Bun.sleep(500);
        if (drip) for (const socket of sockets) if (!socket.destroyed) socket.write(drip);
      }
      const figures = `${closed} of ${count} closed within ${((performance.now() - startedMs) / 1000).toFixed(0)} s`;
      for (const socket of sockets) socket.destroy();
      return closed < count
        ? { got: "connections", figures, broken: "silent connections stay open" }
        : { got: "nothing", figures };
    },
  }));
}

/** Guessed keys and secrets. */
function guesses(harness: ProgramHarness): Cheat[] {
  const GUESSES = 600;
  const guess = (tries: string, ask: (index: number) => Promise<Response>): Cheat => ({
    id: "S21",
    tries,
    run: async () => {
      const startedMs = performance.now();
      const seen = new Map<number, number>();
      let next = 0;
      const guesser = async () => {
        while (next < GUESSES && performance.now() - startedMs < 15_000) {
          const { status } = await ask(next++);
          seen.set(status, (seen.get(status) ?? 0) + 1);
        }
      };
      await Promise.all(Array.from({ length: 16 }, guesser));
      const seconds = (performance.now() - startedMs) / 1000;
      const got = [...seen].map(([status, times]) => `${times} × ${status}`).join(", ");
      const looked = (seen.get(401) ?? 0) / seconds;
      const figures = `${looked.toFixed(0)} guesses a second were looked at`;
      if ((seen.get(200) ?? 0) > 0) return { got, figures, broken: "a guess was right" };
      return looked > 200 ? { got, figures, broken: "guessing is not slowed down" } : { got, figures };
    },
  });
  return [
    guess("guesses API keys", (index) =>
      fetch(`${harness.url}/api/v1/chat/completions`, {
        method: "POST",
        headers: {
          authorization: `Bearer sk-trv-${String(index).padStart(43, "g")}`,
          "content-type": "application/json",
        },
        body: "{}",
      }),
    ),
    guess("guesses the admin secret", (index) =>
      fetch(`${harness.adminUrl}/api/keys`, {
        headers: { authorization: `Bearer guess-${index}-of-the-admin-secret-000` },
      }),
    ),
    {
      id: "S15",
      tries: "shows the admin secret without Bearer",
      run: async () => {
        const { status } = await fetch(`${harness.adminUrl}/api/keys`, {
          headers: { authorization: TEST_ADMIN_SECRET },
        });
        return status === 200 ? { got: "200", broken: "a bare secret is taken" } : { got: String(status) };
      },
    },
    {
      id: "S15",
      tries: "makes a key whose limits are given twice",
      run: async () => {
        const { status } = await fetch(`${harness.adminUrl}/api/keys`, {
          method: "POST",
          headers: { authorization: `Bearer ${TEST_ADMIN_SECRET}`, "content-type": "application/json" },
          body: '{"name":"twice","limits":{"concurrent":1},"limits":{"concurrent":1000}}',
        });
        return status < 300 ? { got: String(status), broken: "it was made" } : { got: String(status) };
      },
    },
    {
      id: "S21",
      tries: "is there before the operator: the admin API with an API key",
      run: async () => {
        const { status } = await fetch(`${harness.adminUrl}/api/keys`, {
          headers: { authorization: `Bearer ${TEST_KEY}` },
        });
        return status === 200 ? { got: "200", broken: "it is taken" } : { got: String(status) };
      },
    },
  ];
}

/** Heads that two parsers may read differently. */
function heads(harness: ProgramHarness): Cheat[] {
  const call = buildCall(harness.url, "chat", TEST_KEY);
  const plain = requestBytes(call);
  const body = String(call[1].body);
  const auth = `authorization: Bearer ${TEST_KEY}\r\ncontent-type: application/json\r\n`;
  const post = (lines: string, rest: string) =>
    `POST /api/v1/chat/completions HTTP/1.1\r\nhost: 127.0.0.1\r\n${auth}${lines}\r\n${rest}`;
  const chunked = `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`;
  const hidden = "GET /api/v1/models HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n";
  /** Allowed results: each response in order, or a refusal. */
  const attempt = (
    id: string,
    tries: string,
    bytes: string,
    isRight: (statuses: string, text: string) => boolean,
    url = harness.url,
  ): Cheat => ({
    id,
    tries,
    run: async () => {
      const { text, ms } = await exchange(url, bytes, 2_500);
      const got = statusesOf(text);
      const figures = `${Math.round(ms)} ms`;
      return isRight(got, text)
        ? { got, figures }
        : { got, figures, broken: text.slice(0, 60).replaceAll("\r\n", " ") || "no status at all" };
    },
  });
  const refused = (statuses: string) => /^(4\d\d|501|505)$/.test(statuses) || statuses === "no answer";
  return [
    attempt(
      "S15",
      "content-length and transfer-encoding together",
      post(`content-length: ${body.length}\r\ntransfer-encoding: chunked\r\n`, chunked + hidden),
      refused,
    ),
    attempt(
      "S15",
      "transfer-encoding and content-length of 4",
      post("transfer-encoding: chunked\r\ncontent-length: 4\r\n", chunked + hidden),
      refused,
    ),
    attempt(
      "S15",
      "two lengths",
      post(`content-length: ${body.length}\r\ncontent-length: 5\r\n`, body + hidden),
      refused,
    ),
    attempt("S15", "a length with a sign", post(`content-length: +${body.length}\r\n`, body + hidden), refused),
    attempt("S15", "a coding of another name", post("transfer-encoding: xchunked\r\n", chunked), refused),
    attempt(
      "S15",
      "chunks with a trailer that holds a key",
      `POST /api/v1/chat/completions HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n${body.length.toString(16)}\r\n${body}\r\n0\r\nauthorization: Bearer ${TEST_KEY}\r\n\r\n`,
      (statuses) => /^4/.test(statuses),
    ),
    attempt(
      "S15",
      "two requests in one write",
      plain + plain,
      (statuses) => statuses === "200, 200" || refused(statuses.split(", ")[0] ?? ""),
    ),
    attempt(
      "S15",
      "a request after a health check",
      `${hidden.replace("/api/v1/models", "/healthz")}${plain}`,
      (statuses) => statuses === "200, 200" || statuses === "200",
    ),
    attempt(
      "S11",
      "a foreign Host",
      plain.replace("host: 127.0.0.1", "host: evil.example"),
      (statuses) => statuses === "403",
    ),
    attempt(
      "S11",
      "a foreign Host in the target, the right one in the head",
      plain.replace("POST /api", "POST http://evil.example/api"),
      (statuses) => /^(200|400|403|404)$/.test(statuses),
    ),
    attempt("S11", "two Hosts", plain.replace("host: 127.0.0.1", "host: 127.0.0.1\r\nhost: evil.example"), (statuses) =>
      /^4/.test(statuses),
    ),
    attempt(
      "S11",
      "a foreign Host at the operator's port",
      `GET /api/keys HTTP/1.1\r\nhost: evil.example\r\nauthorization: Bearer ${TEST_ADMIN_SECRET}\r\n\r\n`,
      (statuses) => statuses === "403",
      harness.adminUrl,
    ),
    attempt(
      "S11",
      "a page of another origin",
      plain.replace("host:", "origin: https://evil.example\r\nhost:"),
      (statuses, text) => statuses === "403" && !/access-control-allow-origin/i.test(text),
    ),
    attempt(
      "S11",
      "a preflight of another origin",
      "OPTIONS /api/v1/chat/completions HTTP/1.1\r\nhost: 127.0.0.1\r\norigin: https://evil.example\r\naccess-control-request-method: POST\r\n\r\n",
      (statuses, text) => /^4/.test(statuses) && !/access-control-allow-origin/i.test(text),
    ),
    attempt(
      "S15",
      "HTTP/1.0 without a Host",
      plain.replace("HTTP/1.1", "HTTP/1.0").replace("host: 127.0.0.1\r\n", ""),
      (statuses) => /^(200|4\d\d)$/.test(statuses),
    ),
    attempt(
      "S04",
      "TRACE and CONNECT",
      "TRACE / HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer echo-me\r\n\r\n",
      (statuses, text) => /^4/.test(statuses) && !text.includes("echo-me"),
    ),
    attempt(
      "S04",
      "a path with dots that climbs to the operator's",
      `GET /api/v1/../../api/keys HTTP/1.1\r\nhost: 127.0.0.1\r\n${auth}\r\n`,
      (statuses) => /^4/.test(statuses),
    ),
    attempt("S15", "a head of 200 KB", plain.replace("host:", `x: ${"y".repeat(200_000)}\r\nhost:`), (statuses) =>
      refused(statuses),
    ),
    attempt(
      "S15",
      "a header with a bare line feed",
      plain.replace("host:", "x: y\nx-api-key: z\nhost:"),
      (statuses) => /^(200|4\d\d)$/.test(statuses) || statuses === "no answer",
    ),
    ...[
      "CODE-EXECUTION-2025-08-25",
      " code-execution-2025-08-25 ",
      "files-api-2025-04-14,Code-Execution-2025-08-25",
    ].map((beta) =>
      attempt(
        "S15",
        `the beta "${beta}"`,
        requestBytes(buildCall(harness.url, "messages", TEST_KEY), { "partner-beta": beta }),
        (statuses) => statuses === "400",
      ),
    ),
    ...["code_execution_20250825", "Code_Execution_20250522"].map((type) =>
      attempt(
        "S15",
        `the tool ${type} without its beta`,
        requestBytes(
          buildCall(harness.url, "messages", TEST_KEY, { body: { tools: [{ type, name: "code_execution" }] } }),
        ),
        (statuses) => statuses === "400",
      ),
    ),
  ];
}
