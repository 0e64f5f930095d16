import { readNetwork } from "../base/ip-network.ts";
import { isDay, readTimestamp } from "../base/timestamp.ts";

/** Checks of text that a pattern cannot express, by the `format` of a schema. */
export const FORMATS: Readonly<Record<string, (text: string) => boolean>> = {
  "http-url": isHttpUrl,
  "webhook-url": isWebhookUrl,
  network: (text) => readNetwork(text) !== undefined,
  day: isDay,
  moment: (text) => isDay(text) || (MOMENT.test(text) && readTimestamp(text) !== undefined),
};

const MOMENT = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)$/;

/** A query or user part would be sent with every call to that URL, into logs and to the host (S07). */
function isHttpUrl(text: string): boolean {
  return /^https?:\/\/[^\s?#]+$/i.test(text) && URL.canParse(text) && !/^https?:\/\/[^/]*@/i.test(text);
}

/** Receivers may have a token in the query; a user part is sent by no client of today. */
function isWebhookUrl(text: string): boolean {
  return /^https?:\/\/[^\s#]+$/i.test(text) && URL.canParse(text) && !/^https?:\/\/[^/?]*@/i.test(text);
}
