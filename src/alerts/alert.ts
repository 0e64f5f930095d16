import type { JsonObject } from "../base/json.ts";
import type { Sources } from "../base/sources.ts";
import { timePrefix } from "../base/timed-id.ts";
import type { AlertType } from "../canon/alert-type.ts";
import type { StoredAlert } from "../storage/tables/alerts.ts";

/** The content of an alert before it has an id. */
export interface AlertDraft {
  type: AlertType | "test";
  /** One plain sentence for people, as chat services show it. */
  text: string;
  data: JsonObject;
}

/** The alert as it is sent and stored. Every attempt sends the same bytes under the same id. */
export function makeAlert({ type, text, data }: AlertDraft, { clock, random }: Sources): StoredAlert {
  const atMs = clock.wallMs();
  const id = `alr_${timePrefix(atMs)}${random.id()}`;
  const body = JSON.stringify({ id, type, time: new Date(atMs).toISOString(), text, data });
  return { id, type, atMs, body };
}

const MAX_NAME = 80;

/** Chat services read `<…>` as links and `@` as mentions, and words of a client must not notify everybody. */
export const harmless = (words: string): string =>
  words.replaceAll(/\p{C}/gu, " ").replaceAll("<", "‹").replaceAll(">", "›").replaceAll("@", "＠");

/** A name within a sentence. */
export function quotedName(name: string): string {
  const plain = harmless(name);
  return `"${plain.length > MAX_NAME ? `${plain.slice(0, MAX_NAME)}…` : plain}"`;
}

const NANO_PER_USD = 1_000_000_000n;
const DECIMALS = 9;
const LEAST_DECIMALS = 2;

/** Formats nano-dollars as dollars: no trailing zeros, but at least two decimals. */
export function dollars(nanoUsd: number): string {
  const nano = BigInt(Math.round(nanoUsd));
  const digits = (nano < 0n ? -nano : nano) % NANO_PER_USD;
  const decimals = String(digits).padStart(DECIMALS, "0").replace(/0+$/, "").padEnd(LEAST_DECIMALS, "0");
  return `${nano < 0n ? "-" : ""}${(nano < 0n ? -nano : nano) / NANO_PER_USD}.${decimals}`;
}
