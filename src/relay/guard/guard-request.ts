import type { Principal } from "../../access/principal.ts";
import { checkAll } from "../../guards/answer-check.ts";
import type { CheckContext } from "../../guards/check-context.ts";
import type { CheckedText } from "../../guards/checked-text.ts";
import { JsonDocument } from "../../guards/json-document.ts";
import type { IncomingRequest } from "../call.ts";
import type { Gateway } from "../gateway.ts";
import type { GuardAsker } from "./guard-asker.ts";
import { guardRefusal } from "./guard-refusal.ts";
import { GuardRun } from "./guard-run.ts";

/** The guards of a call; undefined if none look at it. */
export function beginGuards(
  incoming: IncomingRequest,
  principal: Principal,
  model: string,
  { snapshot }: Pick<Gateway, "snapshot">,
): GuardRun | undefined {
  const inForce = incoming.isOfGuard === true ? undefined : snapshot.guards?.inForce(principal, model);
  return inForce && new GuardRun(inForce);
}

/** Shows the texts of a request to its guards. */
export class RequestGuard {
  readonly #run: GuardRun;
  readonly #context: CheckContext;
  /** What became of texts that the guards have seen. */
  readonly #known = new Map<string, string>();

  constructor(run: GuardRun, asker: GuardAsker) {
    this.#run = run;
    this.#context = { tally: run.request, nowMs: asker.gateway.clock.nowMs, asker };
  }

  /** The body as the guards leave it. Texts that they have seen before are not shown again. Throws if they refuse it. */
  async check(json: string): Promise<string> {
    const document = new JsonDocument(json);
    const fresh: CheckedText[] = [];
    for (const text of document.texts) {
      const known = this.#known.get(text.original);
      if (known === undefined) fresh.push(text);
      else text.value = known;
    }
    try {
      await checkAll(this.#run.inForce.request, fresh, this.#context);
    } catch (thrown) {
      throw guardRefusal(thrown, "request");
    }
    for (const { original, value, kind } of fresh) {
      if (kind === "text" || original === value) this.#known.set(original, value);
      this.#known.set(value, value);
    }
    document.unseal();
    return document.write();
  }
}
