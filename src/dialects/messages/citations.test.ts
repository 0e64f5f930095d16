import { describe, expect, test } from "bun:test";
import type { Citation } from "../../canon/citation.ts";
import { decodeCitation, encodeCitation } from "./citations.ts";
import { CLIENT_SOURCE, encodeOpaque } from "./opaque-values.ts";

const CITATIONS: Citation[] = [
  { type: "document", unit: "character", documentIndex: 0, from: 3, to: 9, citedText: "a", title: "T" },
  { type: "document", unit: "page", documentIndex: 1, from: 1, to: 2, citedText: "b" },
  { type: "document", unit: "block", documentIndex: 2, from: 0, to: 1, citedText: "c" },
  { type: "search-result", source: "kb/1", title: "K", resultIndex: 1, fromBlock: 0, toBlock: 2, citedText: "d" },
  { type: "web", url: "https://a.example", title: "A", index: { origin: "messages", kind: "encrypted", value: "i" } },
  { type: "web", url: "https://a.example", citedText: "e", index: { origin: "genai", kind: "encrypted", value: "i" } },
  { type: "web", url: "https://a.example" },
];

describe("contract 2.10: citations of the five kinds", () => {
  test.each(CITATIONS)("%o comes back", (citation) => {
    const wire = encodeCitation(citation, encodeOpaque);
    expect(typeof wire["cited_text"]).toBe("string");
    expect(decodeCitation(wire, CLIENT_SOURCE)).toEqual(citation);
  });

  test("an index of this dialect is written unchanged, any other is wrapped", () => {
    const written = CITATIONS.slice(-3).map((citation) => encodeCitation(citation, encodeOpaque)["encrypted_index"]);
    expect(written).toEqual(["i", expect.stringMatching(/^trv1\./), ""]);
  });
});
