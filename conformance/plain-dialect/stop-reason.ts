import type { Stop, UnifiedStop } from "../../src/canon/stop.ts";

const UNIFIED: ReadonlyMap<string, UnifiedStop> = new Map([
  ["end", "stop"],
  ["cut", "length"],
  ["blocked", "filter"],
]);

export const decodeStop = (raw: string): Stop => ({ unified: UNIFIED.get(raw) ?? "other", raw });

export const encodeStop = ({ unified }: Stop): string =>
  unified === "length" ? "cut" : unified === "filter" ? "blocked" : "end";
