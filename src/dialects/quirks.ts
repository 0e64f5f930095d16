import { type ChatQuirks, DEFAULT_CHAT_QUIRKS } from "./chat/quirks.ts";
import { DEFAULT_GENAI_QUIRKS, type GenaiQuirks } from "./genai/quirks.ts";
import { DEFAULT_INTERACTIONS_QUIRKS, type InteractionsQuirks } from "./interactions/quirks.ts";
import { DEFAULT_MESSAGES_QUIRKS, type MessagesQuirks } from "./messages/quirks.ts";
import { DEFAULT_MEDIA_QUIRKS, type MediaQuirks } from "./request/media-quirks.ts";
import { DEFAULT_RESPONSES_QUIRKS, type ResponsesQuirks } from "./responses/quirks.ts";

/**
 * Where a provider's protocol differs from the dialects it implements. Data with defaults, never a branch on a provider's name.
 */
export interface Quirks {
  chat: ChatQuirks;
  messages: MessagesQuirks;
  genai: GenaiQuirks;
  converse: MediaQuirks;
  responses: ResponsesQuirks;
  interactions: InteractionsQuirks;
}

/** What a provider declares: only deviations from the default, by dialect. */
export type DeclaredQuirks = { readonly [Name in keyof Quirks]?: Partial<Quirks[Name]> };

export const DEFAULT_QUIRKS: Quirks = {
  chat: DEFAULT_CHAT_QUIRKS,
  messages: DEFAULT_MESSAGES_QUIRKS,
  genai: DEFAULT_GENAI_QUIRKS,
  converse: DEFAULT_MEDIA_QUIRKS,
  responses: DEFAULT_RESPONSES_QUIRKS,
  interactions: DEFAULT_INTERACTIONS_QUIRKS,
};

const hasQuirks = (dialect: string): dialect is keyof Quirks => dialect in DEFAULT_QUIRKS;

/** The quirks of one host in one dialect. Apart from the media, only that dialect knows what they contain. */
export function quirksOf<Name extends keyof Quirks>(dialect: Name, declared?: DeclaredQuirks): Quirks[Name];
export function quirksOf(dialect: string, declared?: DeclaredQuirks): MediaQuirks;
export function quirksOf(dialect: string, declared: DeclaredQuirks = {}): MediaQuirks {
  return hasQuirks(dialect) ? { ...DEFAULT_QUIRKS[dialect], ...declared[dialect] } : DEFAULT_MEDIA_QUIRKS;
}
