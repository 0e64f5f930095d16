/** Which keys are valid. Without a configured key the simulator accepts any key that is not named as wrong. */
export class Credentials {
  readonly #apiKey: string | undefined;

  constructor(apiKey: string | undefined) {
    this.#apiKey = apiKey;
  }

  accepts(key: string): boolean {
    return this.#apiKey === undefined ? key !== "" && !key.includes("wrong") : key === this.#apiKey;
  }
}

export function bearerOf(headers: Headers): string | undefined {
  return /^Bearer\s+(.*)$/i.exec(headers.get("authorization") ?? "")?.[1]?.trim();
}
