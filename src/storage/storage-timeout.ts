/** A statement was given up: the store may be slow, frozen or gone, and nobody can say whether the statement took effect. */
export class StorageTimeout extends Error {
  constructor(limitMs: number, cause?: unknown) {
    super(`The store did not answer within ${limitMs} ms.`, cause === undefined ? undefined : { cause });
    this.name = "StorageTimeout";
  }
}
