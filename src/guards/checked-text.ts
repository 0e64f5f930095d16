/**
 * `text`: something that a person or a model wrote. `name`: the name of a tool or the like. `structure`: a word of the protocol, an id.
 * `key`: the name of a member. `number`: a long number.
 */
export type TextKind = "text" | "name" | "structure" | "key" | "number";

/** One text of a request or a response, on its way through the guards. */
export interface CheckedText {
  /** JSON path in the client's body, such as `messages[0].content`. */
  readonly path: string;
  readonly kind: TextKind;
  readonly original: string;
  /** What the guards have left of it. */
  value: string;
}
