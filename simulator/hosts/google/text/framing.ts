import type { JsonObject } from "../../../json.ts";
import type { GoogleHost } from "./errors.ts";

/** Escapes what could be taken for a tag, as this host does. */
function escaped(json: string): string {
  return json.replaceAll("<", "\\u003c").replaceAll(">", "\\u003e");
}

/** Gemini writes a space after each colon; Vertex does not. */
function oneLine(value: JsonObject, host: GoogleHost): string {
  if (host === "vertex") return escaped(JSON.stringify(value));
  return escaped(JSON.stringify(value, null, 1).replace(/\n */g, ""));
}

/** One chunk on the wire: an event, or an element of the growing array. */
export function frameText(value: JsonObject, host: GoogleHost, events: boolean, first: boolean): string {
  if (events) return `data: ${oneLine(value, host)}\r\n\r\n`;
  return `${first ? "[" : ",\n"}${escaped(JSON.stringify(value, null, 2))}\n`;
}
