import { TEST_KEY } from "../../testing/test-key.ts";
import { startTestGateway } from "../support/test-gateway.ts";
import { startSeeded } from "./seeded-gateway.ts";

export type GalleryData = "empty" | "team" | "million";

export interface GalleryGateway {
  /** The URL of the console. */
  url: string;
  link: string;
  /** What the pages of one thing show; undefined if there is none. */
  call?: string | undefined;
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

/** A gateway with the data that the pictures show. */
export async function startGalleryGateway(data: GalleryData, calls: number): Promise<GalleryGateway> {
  if (data === "empty") {
    const gateway = await startTestGateway({ config: { simulator: true } });
    return { url: gateway.adminUrl, link: gateway.app.consoleUrl, stop: () => gateway.stop() };
  }
  const seeded = await (data === "team" ? startSeeded() : startSeeded(calls));
  const rest = keepBusy(seeded.clientsUrl);
  const stop = () => {
    rest();
    return seeded.stop();
  };
  return { ...seeded, call: seeded.retried, key: seeded.key, provider: "anthropic", stop };
}
