import type { ReceiptDetail } from "../api/types.ts";

export type Kind = "gateway" | "queue" | "attempt" | "failed" | "backoff" | "stream" | "client" | "unknown";

/** A part of a call's time. */
export interface Part {
  kind: Kind;
  label: string;
  /** What the part consists of. */
  about?: string;
  ms: number;
  /** Fractions of the total time, from 0 to 1, where it is drawn. Parts with several spans happened several times. */
  spans: readonly { start: number; length: number }[];
  /** A detail of the part before: its time is not added again. */
  within?: true;
  /** The index of the offer that was tried. */
  offer?: number;
}

export interface Waterfall {
  parts: readonly Part[];
  totalMs: number;
  /** Whether the parts' own times were recorded. They then add up to the total. */
  isComplete: boolean;
}

type Measured = Pick<ReceiptDetail, "offers" | "total_ms" | "hedged" | "timing" | "stream">;

const nameOf = ({ provider, credential }: Measured["offers"][number]): string =>
  credential === null ? provider : `${provider} · ${credential}`;

/**
 * Where the time of a call went. The receipt has the sum of each part: what the gateway and the client took is drawn at the beginning and
 * at the end, although both also happen in between.
 */
export function waterfallOf(call: Measured): Waterfall {
  const { offers, total_ms: totalMs, hedged, timing, stream } = call;
  const whole = Math.max(totalMs, 1);
  if (timing === null) return withoutTiming(call);
  const parts: Part[] = [];
  let at = 0;
  const add = (kind: Kind, label: string, ms: number, about?: string): void => {
    if (ms > 0)
      parts.push({ kind, label, ms, spans: [span(at, ms, whole)], ...(about === undefined ? {} : { about }) });
    at += ms;
  };
  add("gateway", "Gateway", timing.gateway_ms, "reads, checks, plans, translates and settles");
  add("queue", "Queue", timing.queue_ms, "waits for a free slot at a provider");
  const waited = timing.provider_first_content_ms;
  const pauses = Math.max(0, offers.length - 1);
  const pause = pauses === 0 ? 0 : timing.backoff_ms / pauses;
  const tried = offers.reduce((sum, { ms }) => sum + ms, 0);
  const drawn: Part[] = [];
  const paused: { start: number; length: number }[] = [];
  const begin = at;
  for (const [index, offer] of offers.entries()) {
    // Attempts of hedged calls overlap, and each ends with the first content.
    const length = hedged ? Math.min(offer.ms, waited) : tried === 0 ? 0 : (offer.ms / tried) * waited;
    const start = hedged ? begin + waited - length : at;
    drawn.push({
      kind: offer.outcome === "answered" ? "attempt" : "failed",
      label: nameOf(offer),
      ms: offer.ms,
      spans: [span(start, length, whole)],
      within: true,
      offer: index,
    });
    if (hedged) continue;
    at += length;
    if (index < pauses && pause > 0) paused.push(span(at, pause, whole));
    if (index < pauses) at += pause;
  }
  if (hedged || offers.length === 0) at = begin + waited + timing.backoff_ms;
  if (waited > 0) {
    parts.push({
      kind: "attempt",
      label: stream ? "Provider, until first content" : "Provider, until the response",
      about: "connects, sends and waits",
      ms: waited,
      spans: drawn.flatMap(({ spans }) => spans),
    });
  }
  if (offers.length > 1 || drawn.some(({ kind }) => kind === "failed")) parts.push(...drawn);
  if (timing.backoff_ms > 0) {
    const spans = paused.length > 0 ? paused : [span(begin + waited, timing.backoff_ms, whole)];
    parts.push({ kind: "backoff", label: "Back-off", about: "pauses before retries", ms: timing.backoff_ms, spans });
  }
  add("stream", "Provider, streaming", timing.provider_stream_ms, "from the first content to the end");
  add("client", "Client", timing.client_ms, "sends its request, or reads slowly");
  return { parts, totalMs, isComplete: true };
}

/** Videos, whose jobs several processes poll, and receipts of earlier versions. */
function withoutTiming({ offers, total_ms: totalMs, hedged }: Measured): Waterfall {
  const tried = offers.reduce((sum, { ms }) => sum + ms, 0);
  const whole = Math.max(totalMs, hedged ? 0 : tried, 1);
  let at = 0;
  const parts = offers.map((offer, index): Part => {
    const start = hedged ? 0 : at;
    at += offer.ms;
    const kind = offer.outcome === "answered" ? "attempt" : "failed";
    return { kind, label: nameOf(offer), ms: offer.ms, spans: [span(start, offer.ms, whole)], offer: index };
  });
  const rest = hedged ? 0 : totalMs - tried;
  if (rest > 0) parts.push({ kind: "unknown", label: "Not recorded", ms: rest, spans: [span(at, rest, whole)] });
  return { parts, totalMs, isComplete: false };
}

const span = (atMs: number, ms: number, whole: number) => {
  const start = Math.min(1, Math.max(0, atMs / whole));
  return { start, length: Math.min(1 - start, Math.max(0, ms / whole)) };
};
