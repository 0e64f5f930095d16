import { crc32 } from "node:zlib";
import type { JsonObject } from "../../../json.ts";
import type { Seed } from "../../../seed.ts";

const STRING_TYPE = 7;
const PADDING = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

function header(name: string, value: string): Buffer {
  const length = Buffer.byteLength(value);
  const sizes = [Buffer.from([name.length]), Buffer.from([STRING_TYPE, length >> 8, length & 0xff])] as const;
  return Buffer.concat([sizes[0], Buffer.from(name), sizes[1], Buffer.from(value)]);
}

/** One message of the binary event stream, a character for each byte. */
function frame(headers: Readonly<Record<string, string>>, payload: string): string {
  const head = Buffer.concat(Object.entries(headers).map(([name, value]) => header(name, value)));
  const body = Buffer.from(payload);
  const lengths = Buffer.concat([uint32(head.length + body.length + 16), uint32(head.length)]);
  const before = Buffer.concat([lengths, uint32(crc32(lengths)), head, body]);
  return Buffer.concat([before, uint32(crc32(before))]).toString("latin1");
}

export function eventFrame(type: string, payload: string): string {
  return frame({ ":event-type": type, ":content-type": "application/json", ":message-type": "event" }, payload);
}

/** Keys in alphabetical order, and a pad of no meaning, as the host writes them. */
export function paddedEvent(type: string, body: JsonObject, seed: Seed, ordinal: number): string {
  const padded: JsonObject = { ...body, p: PADDING.slice(0, 1 + seed.number(`pad ${ordinal}`, PADDING.length)) };
  const sorted = Object.fromEntries(Object.entries(padded).sort(([a], [b]) => (a < b ? -1 : 1)));
  return eventFrame(type, JSON.stringify(sorted));
}

export function exceptionFrame(type: string, message: string): string {
  const headers = { ":exception-type": type, ":content-type": "application/json", ":message-type": "exception" };
  return frame(headers, JSON.stringify({ message }));
}
