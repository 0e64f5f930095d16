/** A statement timed out: the store may be slow, frozen or down, and it is unknown whether the statement took effect. */
export class StorageTimeout extends Error {
  constructor(limitMs: number, cause?: unknown) {
    super(`The store did not answer within ${limitMs} ms.`, cause === undefined ? undefined : { cause });
    this.name = "StorageTimeout";
  }
}
