/** A bug that is put into the gateway to see whether the simulation finds it. */
export interface Bug {
  name: string;
  file: string;
  /** The original text, which must occur once, and its replacement. */
  was: string;
  becomes: string;
  /** Only visible if several instances share limits. */
  isOfInstances?: boolean;
}
