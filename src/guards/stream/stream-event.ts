import type { CheckedText } from "../checked-text.ts";
import type { JsonDocument } from "../json-document.ts";
import type { BlockText } from "./block-text.ts";

/** A piece of a block in an event. */
export interface EventPiece {
  readonly block: BlockText;
  readonly text: CheckedText;
  /** Where it ends in the original of its block. */
  readonly end: number;
}

/** An event of a stream that waits for the guards. */
export interface StreamEvent {
  /** As it came, with its framing. */
  readonly raw: string;
  /** Writes it with other data. */
  readonly write: (data: string) => string;
  /** Absent: it has no texts. */
  readonly document: JsonDocument | undefined;
  readonly pieces: readonly EventPiece[];
  /** Complete texts that repeat those of earlier events. */
  readonly repeated: readonly { readonly text: CheckedText; readonly block: BlockText }[];
  /** The seal of a text. */
  readonly seal: { readonly text: CheckedText; readonly block: BlockText } | undefined;
}
