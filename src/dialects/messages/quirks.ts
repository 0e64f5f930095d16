import { DEFAULT_MEDIA_QUIRKS, type MediaQuirks } from "../request/media-quirks.ts";

/** What differs between hosts of the messages protocol. */
export interface MessagesQuirks extends MediaQuirks {
  /** Forward the client's beta names. */
  forwardBetas: boolean;
  /** The host knows the beta of `fallbacks`, and its blocks in the history. The gateway calls the models itself either way. */
  fallbackBlocks: boolean;
  /** The host calls remote MCP servers. */
  mcpServers: boolean;
  /** The host summarises long conversations, for models that support it. */
  compaction: boolean;
  /** API versions later than the first that the host knows. */
  versions: readonly string[];
  /** The host accepts system messages between others, for models that support it. */
  systemMessages: boolean;
  /** The host supports `output_config.format` and `strict` tools. */
  structuredOutput: boolean;
  /** The host runs tools besides web search: it fetches pages and executes code. */
  hostedTools: boolean;
}

export const DEFAULT_MESSAGES_QUIRKS: MessagesQuirks = {
  ...DEFAULT_MEDIA_QUIRKS,
  forwardBetas: false,
  fallbackBlocks: false,
  mcpServers: false,
  compaction: false,
  versions: [],
  systemMessages: false,
  structuredOutput: true,
  hostedTools: true,
};
