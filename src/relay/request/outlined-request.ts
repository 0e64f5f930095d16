import type { JsonObject } from "../../base/json.ts";
import type { ReceivedRequest, RequestOutline } from "../../dialects/received-request.ts";

const decoder = new TextDecoder();
const ESCAPE = Buffer.from("\\u");

interface ReadOutline {
  outline: RequestOutline;
  levels: number;
  mayNameObjects: boolean;
}

/** A request of which only the outline was read. Its text and its whole body are made for those who ask for them. */
export class OutlinedRequest implements ReceivedRequest {
  readonly bytes: Buffer;
  readonly outline: RequestOutline;
  readonly levels: number;
  readonly mayNameObjects: boolean;
  #body: JsonObject | undefined;

  constructor(bytes: Buffer, { outline, levels, mayNameObjects }: ReadOutline) {
    this.bytes = bytes;
    this.outline = outline;
    this.levels = levels;
    this.mayNameObjects = mayNameObjects;
  }

  get text(): string {
    return decoder.decode(this.bytes);
  }

  get body(): JsonObject {
    this.#body ??= JSON.parse(this.text) as JsonObject;
    return this.#body;
  }

  get characters(): number {
    return this.text.length;
  }

  get surplusBytes(): number | undefined {
    return this.bytes.includes(ESCAPE) ? undefined : this.bytes.length - this.characters;
  }
}
