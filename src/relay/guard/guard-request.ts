import { nextTurn } from "../../base/next-turn.ts";
import { checkAll } from "../../guards/answer-check.ts";
import type { CheckContext } from "../../guards/check-context.ts";
import type { CheckedText } from "../../guards/checked-text.ts";
import { JsonDocument } from "../../guards/json-document.ts";
import { whileRunning } from "../derived/while-running.ts";
import type { GuardAsker } from "./guard-asker.ts";
import { guardRefusal } from "./guard-refusal.ts";

const TEXTS_PER_TURN = 8192;

/** Shows the texts of a request to its guards. */
export class RequestGuard {
  readonly #asker: GuardAsker;
  readonly #context: CheckContext;

  constructor(asker: GuardAsker) {
    this.#asker = asker;
    this.#context = { tally: asker.run.request, nowMs: asker.gateway.clock.nowMs, asker };
  }

  /** The body as the guards leave it. Texts that a guard has seen before are not shown to it again. Throws if one refuses it. */
  async check(json: string): Promise<string> {
    const { call, gateway, run } = this.#asker;
    const document = await JsonDocument.read(json);
    try {
      await whileRunning(this.#checkFrom(document.texts), call, gateway.clock);
    } catch (thrown) {
      throw guardRefusal(thrown, "request", run);
    }
    document.unseal();
    return document.write();
  }

  async #checkFrom(texts: readonly CheckedText[]): Promise<void> {
    const { inForce, seen } = this.#asker.run;
    for (const guard of inForce.request) {
      const { name } = guard.settings;
      const fresh: CheckedText[] = [];
      for (const [place, text] of texts.entries()) {
        const left = guard.kinds.has(text.kind) ? seen.find(seenAs(name, text), text.value) : undefined;
        if (left === undefined) fresh.push(text);
        else text.value = left;
        if (place % TEXTS_PER_TURN === TEXTS_PER_TURN - 1) await nextTurn();
      }
      const before = fresh.map(({ value }) => value);
      const waits = checkAll([guard], fresh, this.#context);
      if (waits !== undefined) await waits;
      for (const [index, text] of fresh.entries()) {
        const shown = before[index] ?? text.value;
        if (guard.kinds.has(text.kind)) seen.add(seenAs(name, text), shown, text.value);
        if (index % TEXTS_PER_TURN === TEXTS_PER_TURN - 1) await nextTurn();
      }
    }
  }
}

/** A name is searched and redacted in another way than a text. */
const seenAs = (guard: string, { kind }: CheckedText): string => (kind === "text" ? guard : `${guard} ${kind}`);
