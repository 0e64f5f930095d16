import { isObject, type JsonObject, numberAt, stringAt } from "../../base/json.ts";
import { withoutAbsent } from "../../base/without-absent.ts";
import type { Citation } from "../../canon/citation.ts";
import { type BlockSource, type OpaqueWriter, readOpaque } from "./opaque-values.ts";

/** The names of the start and end positions, by kind of citation. */
const POSITIONS = {
  char_location: { unit: "character", from: "start_char_index", to: "end_char_index" },
  page_location: { unit: "page", from: "start_page_number", to: "end_page_number" },
  content_block_location: { unit: "block", from: "start_block_index", to: "end_block_index" },
} as const;

const KIND_OF_UNIT = {
  character: "char_location",
  page: "page_location",
  block: "content_block_location",
} as const;

const isPosition = (type: string): type is keyof typeof POSITIONS => Object.hasOwn(POSITIONS, type);

/** Undefined for an unknown kind. */
export function decodeCitation(value: unknown, source: BlockSource): Citation | undefined {
  if (!isObject(value)) return undefined;
  const type = stringAt(value, "type") ?? "";
  const citedText = stringAt(value, "cited_text");
  const title = stringAt(value, "title") ?? stringAt(value, "document_title");
  const base = withoutAbsent({ citedText: citedText || undefined, title });
  if (type === "web_search_result_location") {
    const index = readOpaque(stringAt(value, "encrypted_index"), "encrypted", source);
    return withoutAbsent({ type: "web" as const, url: stringAt(value, "url") ?? "", ...base, index });
  }
  if (type === "search_result_location") {
    const from = stringAt(value, "source");
    return withoutAbsent({
      type: "search-result" as const,
      ...base,
      source: from,
      resultIndex: numberAt(value, "search_result_index") ?? 0,
      fromBlock: numberAt(value, "start_block_index") ?? 0,
      toBlock: numberAt(value, "end_block_index") ?? 0,
    });
  }
  if (!isPosition(type)) return undefined;
  const position = POSITIONS[type];
  return {
    type: "document",
    ...base,
    unit: position.unit,
    documentIndex: numberAt(value, "document_index") ?? 0,
    from: numberAt(value, position.from) ?? 0,
    to: numberAt(value, position.to) ?? 0,
  };
}

/** Positions in the response text have no form here: upstreams of this dialect split their responses into blocks instead. */
export function encodeCitation(citation: Citation, write: OpaqueWriter): JsonObject {
  const cited_text = citation.citedText ?? "";
  const title = citation.title ?? null;
  switch (citation.type) {
    case "web":
      return {
        type: "web_search_result_location",
        cited_text,
        url: citation.url,
        title,
        encrypted_index: citation.index === undefined ? "" : write(citation.index, "encrypted"),
      };
    case "search-result":
      return {
        type: "search_result_location",
        cited_text,
        source: citation.source ?? null,
        title,
        search_result_index: citation.resultIndex,
        start_block_index: citation.fromBlock,
        end_block_index: citation.toBlock,
      };
    case "document": {
      const type = KIND_OF_UNIT[citation.unit];
      const position = POSITIONS[type];
      return {
        type,
        cited_text,
        document_index: citation.documentIndex,
        document_title: title,
        [position.from]: citation.from,
        [position.to]: citation.to,
      };
    }
    default:
      return citation satisfies never;
  }
}
