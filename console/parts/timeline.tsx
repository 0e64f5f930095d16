import type { ReceiptDetail } from "../api/types.ts";
import { duration } from "../format/numbers.ts";
import { State, words } from "./basics.tsx";

export interface Span {
  label: string;
  outcome: string;
  reason: string | null;
  detail: string;
  /** Fractions of the total time, from 0 to 1. */
  start: number;
  length: number;
  /** The fraction for the rest of the stream that follows. */
  streams: number;
  ms: number;
}

type Offers = Pick<ReceiptDetail, "verb" | "offers" | "total_ms" | "first_content_ms" | "stream" | "hedged" | "timing">;

/**
 * One bar for each offer. Offers run one after the other, with a pause before each retry. The last ends with the first content of a
 * stream, or with the call. For two offers in parallel only their durations are known, so both end there.
 */
export function spansOf({ verb, offers, total_ms, first_content_ms, stream, hedged, timing }: Offers): Span[] {
  const together = offers.reduce((sum, { ms }) => sum + ms, 0);
  const whole = Math.max(total_ms, hedged ? 0 : together, 0.001);
  const end = stream && first_content_ms !== null ? Math.min(whole, first_content_ms) : whole;
  const pause = offers.length > 1 ? (timing?.backoff_ms ?? 0) / (offers.length - 1) : 0;
  const last = offers.length - 1;
  // The gateway's own time comes before the first offer. A submitted job continues after the last.
  let at = hedged || isJob({ verb }) ? 0 : Math.max(0, end - together - pause * last);
  return offers.map(({ provider, credential, outcome, reason, ms, failure }, index) => {
    const start = hedged ? Math.max(0, end - ms) : at;
    at += ms + pause;
    return {
      label: credential === null ? provider : `${provider} · ${credential}`,
      outcome,
      reason,
      detail: failure === null ? "" : failureWords(failure),
      start: Math.min(1, start / whole),
      length: Math.min(1, ms / whole),
      streams: index === last && outcome === "answered" && !isJob({ verb }) ? (whole - end) / whole : 0,
      ms,
    };
  });
}

/** The failure reported by a provider, on one line. */
export function failureWords(failure: Record<string, unknown>): string {
  return Object.entries(failure)
    .filter(([name, value]) => name !== "provider" && value !== null && value !== undefined && value !== "")
    .map(
      ([name, value]) =>
        `${name === "said" ? "message" : words(name)}: ${typeof value === "object" ? JSON.stringify(value) : String(value)}`,
    )
    .join(" · ");
}

const PARTS = [
  ["provider_first_content_ms", "provider, until first content"],
  ["provider_stream_ms", "provider, streaming"],
  ["client_ms", "waiting for the client"],
  ["backoff_ms", "back-off between retries"],
  ["queue_ms", "queued for provider capacity"],
  ["gateway_ms", "gateway"],
] as const;

/** The non-zero parts of a call's time; undefined if not recorded. */
export const partsOf = ({ timing }: Pick<ReceiptDetail, "timing">) =>
  timing === null
    ? undefined
    : PARTS.filter(([name]) => timing[name] > 0).map(([name, label]) => ({ name, label, ms: timing[name] }));

/** A video offer submits a job, which continues after the submission. */
const isJob = ({ verb }: Pick<ReceiptDetail, "verb">): boolean => verb === "videos";

const KINDS: Readonly<Record<string, "good" | "bad" | "idle">> = { answered: "good", failed: "bad", abandoned: "idle" };

export function Timeline({ call }: { call: ReceiptDetail }) {
  const spans = spansOf(call);
  const parts = partsOf(call);
  const afterSubmit = call.total_ms - spans.reduce((sum, { ms }) => sum + ms, 0);
  const first =
    call.first_content_ms === null ? undefined : Math.min(1, call.first_content_ms / Math.max(call.total_ms, 0.001));
  return (
    <section class="panel">
      <h2>Timeline</h2>
      {spans.length === 0 ? (
        <p class="muted">No provider was called. The call ended after {duration(call.total_ms)}.</p>
      ) : (
        <ol class="timeline">
          {spans.map(({ label, outcome, reason, detail, start, length, streams, ms }, at) => (
            <li key={at}>
              <span class="offer">
                {label}
                <State kind={KINDS[outcome] ?? "idle"}>{reason === null ? outcome : words(reason)}</State>
              </span>
              <svg class="track" viewBox="0 0 1000 22" preserveAspectRatio="none" aria-hidden="true">
                <rect class="rail" x="0" y="10" width="1000" height="2" />
                <rect
                  class={`span ${outcome}`}
                  x={start * 1_000}
                  y="4"
                  width={Math.max(3, length * 1_000)}
                  height="14"
                  rx="2"
                />
                {streams > 0 && (
                  <rect
                    class="span streaming"
                    x={(start + length) * 1_000}
                    y="7"
                    width={Math.max(3, streams * 1_000)}
                    height="8"
                    rx="2"
                  />
                )}
                {first !== undefined && outcome === "answered" && (
                  <rect class="first" x={Math.min(997, first * 1_000)} y="0" width="3" height="22" />
                )}
              </svg>
              <span class="number">{duration(ms)}</span>
              {detail !== "" && <p class="detail">{detail}</p>}
            </li>
          ))}
        </ol>
      )}
      {parts !== undefined && parts.length > 0 && (
        <dl class="facts parts" aria-label="Time breakdown">
          {parts.map(({ name, label, ms }) => (
            <div key={name}>
              <dt>{label}</dt>
              <dd>{duration(ms)}</dd>
            </div>
          ))}
        </dl>
      )}
      <p class="muted small">
        {call.first_content_ms !== null &&
          `The marker shows the first content, after ${duration(call.first_content_ms)}. `}
        {call.hedged && "Two offers were called in parallel. "}
        {isJob(call) && afterSubmit > 0 && `The gateway polled the provider's job for ${duration(afterSubmit)}.`}
        {call.continued.map(
          ({ provider, from_characters }) => ` Continued on ${provider} after ${from_characters} characters.`,
        )}
      </p>
    </section>
  );
}
