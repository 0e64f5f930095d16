import type { DialectName, UpstreamDialectName } from "../canon/dialect-name.ts";
import { chat } from "./chat/index.ts";
import type { UpstreamCodec } from "./codec.ts";
import { converseCodec } from "./converse/codec.ts";
import type { Dialect } from "./dialect.ts";
import { genai } from "./genai/index.ts";
import { interactions } from "./interactions/index.ts";
import { messages } from "./messages/index.ts";
import { DialectRegistry } from "./registry.ts";
import { responses } from "./responses/index.ts";

/** The built-in dialects for clients. */
export const DIALECTS: Readonly<Record<DialectName, Dialect>> = { chat, messages, genai, responses, interactions };

/** The codecs of the built-in dialects for providers. */
export const UPSTREAM_CODECS: Readonly<Record<UpstreamDialectName, UpstreamCodec>> = {
  chat: chat.codec,
  messages: messages.codec,
  genai: genai.codec,
  converse: converseCodec,
  responses: responses.codec,
  interactions: interactions.codec,
};

/** All dialects of the program. Add a new dialect here and to the tables above. */
export const BUILT_IN_DIALECTS = new DialectRegistry([chat, messages, genai, responses, interactions], [converseCodec]);
