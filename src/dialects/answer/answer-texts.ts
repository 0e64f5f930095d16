import type { JsonObject } from "../../base/json.ts";

/** A text of a streamed event that is a piece of a longer one. */
export interface TextPiece {
  /** Its JSON path in the event. */
  readonly path: string;
  /** The longer text. Its pieces, in order, are what the client puts together. */
  readonly block: string;
  /** The longer text is JSON, such as the arguments of a tool. */
  readonly isJson?: boolean;
}

/** Where the texts of a dialect's streamed responses are. */
export interface AnswerTexts {
  pieces(event: JsonObject): readonly TextPiece[];
  /** What the names of the texts begin with that this event ends. The end of the stream ends all. */
  ends(event: JsonObject): readonly string[];
  /** Later events repeat complete texts. */
  readonly repeats: boolean;
  /** The seal of a text, which a host checks against it. It is emptied if the text was changed. */
  seal?(event: JsonObject): { path: string; block: string } | undefined;
  /** The names of members that hold such a seal in a whole response, by the name of the member with the text. */
  readonly seals?: Readonly<Record<string, string>>;
}
