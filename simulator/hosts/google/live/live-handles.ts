import { Seed } from "../../../seed.ts";
import type { History } from "./history.ts";

const MAX_HANDLES = 200;

/** The states that sessions can be resumed from. */
export class LiveHandles {
  readonly #byHandle = new Map<string, History>();
  #made = 0;

  keep(history: History): string {
    const handle = new Seed(`live handle ${++this.#made}`).token("handle", 32);
    this.#byHandle.set(handle, history.copy());
    for (const oldest of this.#byHandle.keys()) {
      if (this.#byHandle.size <= MAX_HANDLES) break;
      this.#byHandle.delete(oldest);
    }
    return handle;
  }

  find(handle: string): History | undefined {
    return this.#byHandle.get(handle)?.copy();
  }
}
