import type { ReceiptDetail } from "../api/types.ts";
import { duration, percent } from "../format/numbers.ts";
import { readJson } from "../state/json-diff.ts";
import { type Part, waterfallOf } from "../state/waterfall.ts";
import { State, words } from "./basics.tsx";

const KINDS: Readonly<Record<string, "good" | "bad" | "idle">> = { answered: "good", failed: "bad", abandoned: "idle" };

type Offer = ReceiptDetail["offers"][number];

/** The sentence in a provider's error, which is JSON for most of them. */
function messageIn(said: string): string {
  const found = messageOf(readJson(said));
  return found === undefined || found.trim() === "" ? said : found;
}

function messageOf(value: unknown): string | undefined {
  if (typeof value === "string") return value;
  if (Array.isArray(value)) return messageOf(value[0]);
  if (typeof value !== "object" || value === null) return undefined;
  const fields = value as Record<string, unknown>;
  for (const name of ["error", "message", "detail", "errors", "error_message", "msg"]) {
    const found = Object.hasOwn(fields, name) ? messageOf(fields[name]) : undefined;
    if (found !== undefined) return found;
  }
  return undefined;
}

/** What a provider said, in the order in which an operator reads it. */
export function failureSentence({ failure, reason }: Pick<Offer, "failure" | "reason">): string {
  const field = (name: string): string | undefined => {
    const value = failure?.[name];
    if (value === undefined || value === null || value === "") return undefined;
    return typeof value === "object" ? JSON.stringify(value) : String(value);
  };
  const said = field("said");
  const where = field("host");
  const seconds = field("retryAfterSeconds");
  return [
    said === undefined ? undefined : messageIn(said),
    said === undefined && reason !== null ? words(reason) : undefined,
    field("status") === undefined ? undefined : `HTTP ${field("status")}`,
    field("errno"),
    where === undefined ? undefined : `from ${where}`,
    seconds === undefined ? undefined : `no requests for ${seconds} s`,
    field("cure"),
  ]
    .filter((part) => part !== undefined)
    .join(" · ");
}

function Track({ part }: { part: Part }) {
  return (
    <svg class="track" viewBox="0 0 1000 20" preserveAspectRatio="none" aria-hidden="true">
      <rect class="rail" x="0" y="9.5" width="1000" height="1" />
      {part.spans.map(({ start, length }) => (
        <rect
          key={start}
          class={`span ${part.kind}`}
          x={Math.min(997, start * 1_000)}
          y={part.within ? 6 : 3}
          width={Math.max(3, length * 1_000)}
          height={part.within ? 8 : 14}
          rx="1.5"
        />
      ))}
    </svg>
  );
}

/** Where the time of a call went: one bar for each part, which add up to the total. */
export function Waterfall({ call }: { call: ReceiptDetail }) {
  const { parts, totalMs, isComplete } = waterfallOf(call);
  return (
    <section class="panel" aria-labelledby="time">
      <h2 id="time">Time</h2>
      <table class="waterfall">
        <thead>
          <tr>
            <th scope="col">Part</th>
            <th scope="col">
              <span class="unseen">When</span>
            </th>
            <th scope="col" class="number">
              Time
            </th>
            <th scope="col" class="number">
              Share
            </th>
          </tr>
        </thead>
        <tbody>
          {parts.map((part, index) => {
            const offer = part.offer === undefined ? undefined : call.offers[part.offer];
            return (
              <tr key={index} class={part.within ? "within" : undefined}>
                <th scope="row" title={part.about}>
                  {part.within ? `${(part.offer ?? 0) + 1}. ` : ""}
                  {part.label}
                  {offer !== undefined && (
                    <State kind={KINDS[offer.outcome] ?? "idle"}>
                      {offer.reason === null ? offer.outcome : words(offer.reason)}
                    </State>
                  )}
                  {part.about !== undefined && <small>{part.about}</small>}
                </th>
                <td class="bar-cell">
                  <Track part={part} />
                </td>
                <td class="number">{duration(part.ms)}</td>
                <td class="number muted">{part.within ? "" : percent(part.ms, totalMs)}</td>
              </tr>
            );
          })}
        </tbody>
        <tfoot>
          <tr>
            <th scope="row">Total</th>
            <td />
            <td class="number">{duration(totalMs)}</td>
            <td />
          </tr>
        </tfoot>
      </table>
      <p class="muted small">
        {call.offers.length === 0 && "No provider was called. "}
        {!isComplete &&
          (call.verb === "videos"
            ? "Parts are not recorded for videos, whose jobs are polled. "
            : "Parts were not recorded for this call. ")}
        {isComplete && "The gateway's and the client's times are sums, drawn at the beginning and at the end. "}
        {call.hedged && "Attempts ran in parallel. "}
        {call.continued.map(
          ({ provider, from_characters }) => `Continued on ${provider} after ${from_characters} characters. `,
        )}
      </p>
    </section>
  );
}
