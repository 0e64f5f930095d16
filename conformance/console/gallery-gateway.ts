import { TEST_KEY } from "../../testing/test-key.ts";
import { startTestGateway } from "../support/test-gateway.ts";
import { type SeededGateway, startSeeded } from "./seeded-gateway.ts";

export type GalleryData = "empty" | "team" | "million";

export interface GalleryGateway {
  /** The URL of the console. */
  url: string;
  link: string;
  /** What the pages of one thing show; undefined if there is none. */
  call?: string | undefined;
  /** A call with captured bodies. */
  captured?: string | undefined;
  key?: string | undefined;
  provider?: string | undefined;
  batch?: string | undefined;
  stop(): Promise<void>;
}

const IN_FLIGHT = ["sim/drip", "sim/drip", "sim/slow-first-byte", "sim/slow-first-byte", "sim/slow-first-byte"];

/** Keeps some calls in flight and a live connection open, until it is stopped. */
function keepBusy(clientsUrl: string): () => void {
  const end = new AbortController();
  const headers = { authorization: `Bearer ${TEST_KEY}`, "content-type": "application/json" };
  const call = async (model: string, at: number): Promise<void> => {
    const body = JSON.stringify({ model, stream: true, messages: [{ role: "user", content: "Hello" }] });
    const named = { ...headers, "x-trivium-user": `customer-${4 + at}` };
    while (!end.signal.aborted) {
      const given = { method: "POST", headers: named, body, signal: end.signal };
      await fetch(`${clientsUrl}/v1/chat/completions`, given).then(
        (answer) => answer.text().catch(() => ""),
        () => "",
      );
    }
  };
  for (const [at, model] of IN_FLIGHT.entries()) void call(model, at);
  const socket = new WebSocket(`${clientsUrl.replace("http", "ws")}/v1/realtime?model=sim/realtime`, {
    headers: { authorization: headers.authorization },
  });
  return () => {
    end.abort();
    socket.close();
  };
}

/** Makes a call with a key that captures bodies, and returns its receipt. */
async function captureCall({ url, clientsUrl, secret }: SeededGateway): Promise<string> {
  const asAdmin = { authorization: `Bearer ${secret}`, "content-type": "application/json" };
  const key = JSON.stringify({ name: "support desk", project: "shop", capture: true });
  const made = await fetch(`${url}/api/keys`, { method: "POST", headers: asAdmin, body: key });
  const { data } = (await made.json()) as { data: { key: string } };
  const answer = await fetch(`${clientsUrl}/v1/messages`, {
    method: "POST",
    headers: { "x-api-key": data.key, "anthropic-version": "2023-06-01", "content-type": "application/json" },
    body: JSON.stringify({
      model: "sim/standard",
      max_tokens: 200,
      temperature: 0.2,
      system: "Answer in one sentence.",
      messages: [{ role: "user", content: "Where is ORDER-4711?" }],
    }),
  });
  await answer.text();
  const receipt = answer.headers.get("x-trivium-receipt") ?? "";
  // Bodies are stored after the client has received its response.
  while (!(await fetch(`${url}/api/receipts/${receipt}/bodies`, { headers: asAdmin })).ok) await Bun.sleep(50);
  return receipt;
}

/** A gateway with the data that the pictures show. */
export async function startGalleryGateway(data: GalleryData, calls: number): Promise<GalleryGateway> {
  if (data === "empty") {
    const gateway = await startTestGateway({ config: { simulator: true } });
    return { url: gateway.adminUrl, link: gateway.app.consoleUrl, stop: () => gateway.stop() };
  }
  const seeded = await (data === "team" ? startSeeded() : startSeeded(calls));
  const captured = await captureCall(seeded);
  const rest = keepBusy(seeded.clientsUrl);
  const stop = () => {
    rest();
    return seeded.stop();
  };
  return { ...seeded, call: seeded.retried, captured, key: seeded.key, provider: "anthropic", stop };
}
