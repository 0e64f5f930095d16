import { ask } from "../api/client.ts";
import type { CapturedBodies, ReceiptDetail } from "../api/types.ts";

export interface CapturedRequest {
  receipt: string;
  model: string;
  /** The client's, as `chat` or `messages`. */
  protocol: string;
  stream: boolean;
  /** As JSON with lines; undefined if it was not kept, or is not whole. */
  body: string | undefined;
  /** What the reader must know about it. */
  note: string;
}

const MEDIUM = /\[[^\]]*medium \d+\]/;

function bodyOf(bodies: CapturedBodies): Pick<CapturedRequest, "body" | "note"> {
  const kept = bodies.client_request;
  if (kept === null) return { body: undefined, note: "Its request was not kept." };
  if (kept.cut) return { body: undefined, note: "Its request is not whole, because it was too long to be kept." };
  try {
    const body = JSON.stringify(JSON.parse(kept.text), undefined, 2);
    const isIncomplete = MEDIUM.test(body) || body.includes("[secret]");
    return { body, note: isIncomplete ? "Media and credentials in it were replaced: put in your own." : "" };
  } catch {
    return { body: undefined, note: "Its request is not JSON." };
  }
}

/** The request of a call, as its client sent it. Reading it is in the audit log, like every view of bodies. */
export async function capturedRequest(id: string, abort: AbortSignal): Promise<CapturedRequest> {
  const path = `/api/receipts/${encodeURIComponent(id)}`;
  const { data } = await ask<{ data: ReceiptDetail }>(path, {}, abort);
  const common = { receipt: id, model: data.model, protocol: data.dialect.client, stream: data.stream };
  if (!data.captured) {
    const note = "Its bodies were not kept, so only its model and protocol are taken over.";
    return { ...common, body: undefined, note };
  }
  return { ...common, ...bodyOf((await ask<{ data: CapturedBodies }>(`${path}/bodies`, {}, abort)).data) };
}
