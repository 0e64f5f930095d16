import { arrayAt, type JsonObject, numberAt, objectAt, stringAt } from "../../base/json.ts";
import { withoutAbsent } from "../../base/without-absent.ts";
import type { Citation } from "../../canon/citation.ts";

const UNIT_OF_POSITION = { documentChar: "character", documentPage: "page", documentChunk: "block" } as const;
type Position = keyof typeof UNIT_OF_POSITION;
const POSITIONS = Object.keys(UNIT_OF_POSITION) as Position[];

/** A citation of a response. Undefined if the kind of its position exists only in this protocol. */
export function decodeCitation(raw: unknown): Citation | undefined {
  const title = stringAt(raw, "title");
  const citedText = arrayAt(raw, "sourceContent")
    .map((content) => stringAt(content, "text") ?? "")
    .join("");
  const base = {
    ...(citedText === "" ? {} : { citedText }),
    ...withoutAbsent({ title }),
  };
  const location = objectAt(raw, "location");
  const position = POSITIONS.find((name) => objectAt(location, name) !== undefined);
  if (position !== undefined) {
    const at = objectAt(location, position);
    return {
      type: "document",
      unit: UNIT_OF_POSITION[position],
      documentIndex: numberAt(at, "documentIndex") ?? 0,
      from: numberAt(at, "start") ?? 0,
      to: numberAt(at, "end") ?? 0,
      ...base,
    };
  }
  const result = objectAt(location, "searchResultLocation");
  if (result !== undefined) {
    const source = stringAt(raw, "source");
    return {
      type: "search-result",
      ...withoutAbsent({ source }),
      resultIndex: numberAt(result, "searchResultIndex") ?? 0,
      fromBlock: numberAt(result, "start") ?? 0,
      toBlock: numberAt(result, "end") ?? 0,
      ...base,
    };
  }
  const url = stringAt(objectAt(location, "web"), "url");
  return url === undefined ? undefined : { type: "web", url, ...base };
}

/** The reverse, for a history. Undefined for web pages, which only a provider's own search can cite. */
export function encodeCitation(citation: Citation): JsonObject | undefined {
  const location = encodeLocation(citation);
  if (location === undefined) return undefined;
  const { title, citedText } = citation;
  return {
    ...withoutAbsent({ title }),
    ...(citation.type === "search-result" && citation.source !== undefined ? { source: citation.source } : {}),
    ...(citedText === undefined ? {} : { sourceContent: [{ text: citedText }] }),
    location,
  };
}

function encodeLocation(citation: Citation): JsonObject | undefined {
  switch (citation.type) {
    case "document": {
      const { unit, documentIndex, from, to } = citation;
      const position = POSITIONS.find((name) => UNIT_OF_POSITION[name] === unit);
      return position && { [position]: { documentIndex, start: from, end: to } };
    }
    case "search-result": {
      const { resultIndex, fromBlock, toBlock } = citation;
      return { searchResultLocation: { searchResultIndex: resultIndex, start: fromBlock, end: toBlock } };
    }
    case "web":
      return undefined;
  }
}
