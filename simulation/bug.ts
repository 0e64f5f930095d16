/** A mistake that is put into the gateway to see whether the simulation finds it. */
export interface Bug {
  name: string;
  file: string;
  /** What is there, once, and what is put in its place. */
  was: string;
  becomes: string;
  /** It shows where several instances share limits. */
  isOfInstances?: boolean;
}
