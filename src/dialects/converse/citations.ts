import { arrayAt, type JsonObject, numberAt, objectAt, stringAt } from "../../base/json.ts";
import type { Citation } from "../../canon/citation.ts";

const UNIT_OF_PLACE = { documentChar: "character", documentPage: "page", documentChunk: "block" } as const;
type Place = keyof typeof UNIT_OF_PLACE;
const PLACES = Object.keys(UNIT_OF_PLACE) as Place[];

/** A citation of an answer; undefined where its position is of a kind that only this protocol has. */
export function decodeCitation(raw: unknown): Citation | undefined {
  const title = stringAt(raw, "title");
  const citedText = arrayAt(raw, "sourceContent")
    .map((content) => stringAt(content, "text") ?? "")
    .join("");
  const base = {
    ...(citedText === "" ? {} : { citedText }),
    ...(title === undefined ? {} : { title }),
  };
  const location = objectAt(raw, "location");
  const place = PLACES.find((name) => objectAt(location, name) !== undefined);
  if (place !== undefined) {
    const at = objectAt(location, place);
    return {
      type: "document",
      unit: UNIT_OF_PLACE[place],
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
      ...(source === undefined ? {} : { source }),
      resultIndex: numberAt(result, "searchResultIndex") ?? 0,
      fromBlock: numberAt(result, "start") ?? 0,
      toBlock: numberAt(result, "end") ?? 0,
      ...base,
    };
  }
  const url = stringAt(objectAt(location, "web"), "url");
  return url === undefined ? undefined : { type: "web", url, ...base };
}

/** The same in a history; undefined for pages of the web, which only a host's own search can have cited. */
export function encodeCitation(citation: Citation): JsonObject | undefined {
  const location = encodeLocation(citation);
  if (location === undefined) return undefined;
  const { title, citedText } = citation;
  return {
    ...(title === undefined ? {} : { title }),
    ...(citation.type === "search-result" && citation.source !== undefined ? { source: citation.source } : {}),
    ...(citedText === undefined ? {} : { sourceContent: [{ text: citedText }] }),
    location,
  };
}

function encodeLocation(citation: Citation): JsonObject | undefined {
  switch (citation.type) {
    case "document": {
      const { unit, documentIndex, from, to } = citation;
      const place = PLACES.find((name) => UNIT_OF_PLACE[name] === unit);
      return place && { [place]: { documentIndex, start: from, end: to } };
    }
    case "search-result": {
      const { resultIndex, fromBlock, toBlock } = citation;
      return { searchResultLocation: { searchResultIndex: resultIndex, start: fromBlock, end: toBlock } };
    }
    case "web":
      return undefined;
  }
}
