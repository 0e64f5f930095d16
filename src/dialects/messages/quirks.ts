import { DEFAULT_MEDIA_QUIRKS, type MediaQuirks } from "../request/media-quirks.ts";

/** What differs between hosts of the messages protocol. */
export interface MessagesQuirks extends MediaQuirks {
  /** Pass the client's beta names on. */
  forwardBetas: boolean;
  /** Later versions of the API than the first that the host knows. */
  versions: readonly string[];
  /** The host takes system messages amid the others, for the models that do. */
  systemMessages: boolean;
  /** The host knows `output_config.format` and `strict` tools. */
  structuredOutput: boolean;
}

export const DEFAULT_MESSAGES_QUIRKS: MessagesQuirks = {
  ...DEFAULT_MEDIA_QUIRKS,
  forwardBetas: false,
  versions: [],
  systemMessages: false,
  structuredOutput: true,
};
