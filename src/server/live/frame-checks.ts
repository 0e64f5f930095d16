import type { Billable } from "../../canon/billable.ts";
import { GatewayError } from "../../canon/error.ts";
import type { LiveCommand } from "../../canon/live.ts";
import type { LiveFrameCheck } from "../../dialects/live-dialect.ts";
import type { Gateway } from "../../relay/gateway.ts";
import { type LiveCaller, laneOf } from "../../relay/live/live-caller.ts";
import { billedOffer, withoutPricedModels } from "../../relay/live/live-kind.ts";
import { checkBilling } from "../../relay/request/check-billing.ts";
import type { LiveTarget } from "../../routing/target.ts";

/** What a client's frames may ask of the host of its session. */
export class FrameChecks {
  readonly #live: LiveCaller;
  readonly #target: LiveTarget;
  readonly #gateway: Gateway;

  constructor(live: LiveCaller, target: LiveTarget, gateway: Gateway) {
    this.#live = live;
    this.#target = target;
    this.#gateway = gateway;
  }

  /** Those that are not models with prices of their own. */
  ofUnknownPrice(billables: readonly Billable[]): readonly Billable[] {
    return withoutPricedModels(billables, this.#target, this.#gateway.snapshot.catalogue);
  }

  /** Throws for what may not be sent to the host. */
  check(check: LiveFrameCheck | undefined, commands: readonly LiveCommand[]): void {
    const live = this.#live;
    const { model } = live.resolved;
    if (check?.model !== undefined) {
      const named = this.#gateway.snapshot.catalogue.resolve(check.model, live.incoming.naming);
      if (named.model.id !== model.id) throw otherModel(check.model, model.id);
    }
    const isNative = laneOf(live, this.#target) === "native";
    // What a frame costs that the gateway does not know is unknown, too.
    const unknown = commands.flatMap((command): Billable[] =>
      command.type === "unknown" && isNative ? [{ kind: "tool", name: command.name, path: "type" }] : [],
    );
    const billables = this.ofUnknownPrice([...(check?.billables ?? []), ...unknown]);
    if (billables.length === 0) return;
    const caller = { principal: live.principal(), door: live.incoming.door };
    try {
      checkBilling(billables, caller, [billedOffer(live, this.#target)], this.#gateway);
    } catch (thrown) {
      // What is wrong with a field helps more than that its price is unknown.
      for (const command of commands) if (command.type === "unknown" && command.unread) throw command.unread;
      throw thrown;
    }
  }
}

const otherModel = (named: string, model: string) =>
  new GatewayError(
    "invalid_request",
    `A session keeps its model. This one is open for ${model}; to use ${named.slice(0, 100)}, open another connection.`,
    { path: "session.model", code: "model_change" },
  );
