import { Type } from "../../../base/type.ts";
import { anyOtherKind, nullable } from "../../reading/schema-builders.ts";

const cited_text = Type.String();
const index = Type.Optional(Type.Integer({ minimum: 0 }));
const nullableText = Type.Optional(nullable(Type.String()));
const inDocument = { cited_text, document_index: index, document_title: nullableText };
const pageNumber = Type.Optional(Type.Integer({ minimum: 1 }));

const LISTED = [
  "char_location",
  "page_location",
  "content_block_location",
  "web_search_result_location",
  "search_result_location",
];

/** Where a passage of text was taken from. The client returns what a response contained. */
export const Citation = Type.Union(
  [
    Type.Object({
      type: Type.Literal("char_location"),
      ...inDocument,
      start_char_index: index,
      end_char_index: index,
    }),
    Type.Object({
      type: Type.Literal("page_location"),
      ...inDocument,
      start_page_number: pageNumber,
      end_page_number: pageNumber,
    }),
    Type.Object({
      type: Type.Literal("content_block_location"),
      ...inDocument,
      start_block_index: index,
      end_block_index: index,
    }),
    Type.Object({
      type: Type.Literal("web_search_result_location"),
      cited_text,
      url: Type.Optional(Type.String()),
      title: nullableText,
      encrypted_index: Type.Optional(Type.String({ description: "Opaque; return it unchanged." })),
    }),
    Type.Object({
      type: Type.Literal("search_result_location"),
      cited_text,
      source: nullableText,
      title: nullableText,
      search_result_index: index,
      start_block_index: index,
      end_block_index: index,
    }),
    anyOtherKind(LISTED),
  ],
  { title: "Citation" },
);
