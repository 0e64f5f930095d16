import type { JsonObject } from "../../../json.ts";
import type { Segment, Span } from "../../../text/plan.ts";

/** Offsets are counted in bytes of the answer's UTF-8; a start of 0 is left out, as this host does. */
export function groundingMetadata(search: Segment & { type: "search" }, spans: readonly Span[]): JsonObject {
  let at = 0;
  const supports = spans.flatMap((span) => {
    const startIndex = at;
    at += Buffer.byteLength(span.text);
    const chunk = search.results.findIndex((result) => result.url === span.source?.url);
    if (chunk < 0) return [];
    const segment = { ...(startIndex === 0 ? {} : { startIndex }), endIndex: at, text: span.text };
    return [{ segment, groundingChunkIndices: [chunk] }];
  });
  return {
    searchEntryPoint: { renderedContent: "<div>Simulated search</div>" },
    groundingChunks: search.results.map(({ url, title }) => ({ web: { uri: url, title } })),
    groundingSupports: supports,
    webSearchQueries: [search.query],
  };
}
