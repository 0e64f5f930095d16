/** Why a form could not be read, as a sentence for its sender. */
export class MultipartError extends Error {
  readonly kind: "too_large" | "malformed";
  /** The form field that was being read, if its name is known. */
  readonly field: string | undefined;

  constructor(kind: "too_large" | "malformed", message: string, field?: string) {
    super(message);
    this.name = "MultipartError";
    this.kind = kind;
    this.field = field;
  }
}
