import type { DialectName, UpstreamDialectName } from "../canon/dialect-name.ts";
import { chat } from "./chat/index.ts";
import type { UpstreamCodec } from "./codec.ts";
import { converseCodec } from "./converse/codec.ts";
import type { Dialect } from "./dialect.ts";
import { genai } from "./genai/index.ts";
import { messages } from "./messages/index.ts";
import { DialectRegistry } from "./registry.ts";
import { responses } from "./responses/index.ts";

/** The built-in dialects that clients speak. */
export const DIALECTS: Readonly<Record<DialectName, Dialect>> = { chat, messages, genai, responses };

/** How each built-in dialect is spoken towards providers. */
export const UPSTREAM_CODECS: Readonly<Record<UpstreamDialectName, UpstreamCodec>> = {
  chat: chat.codec,
  messages: messages.codec,
  genai: genai.codec,
  converse: converseCodec,
  responses: responses.codec,
};

/** What the program speaks. A new dialect is added here and to the tables above. */
export const BUILT_IN_DIALECTS = new DialectRegistry([chat, messages, genai, responses], [converseCodec]);
