/** The runtime's code for a failure of a disk or a bucket. */
export function errorCode(thrown: unknown): string | undefined {
  return thrown instanceof Error && "code" in thrown && typeof thrown.code === "string" ? thrown.code : undefined;
}

/** Undefined if the work fails with that code, which means that the file does not exist. */
export async function unlessMissing<Result>(work: Promise<Result>, code: string): Promise<Result | undefined> {
  try {
    return await work;
  } catch (thrown) {
    if (errorCode(thrown) === code) return undefined;
    throw thrown;
  }
}
