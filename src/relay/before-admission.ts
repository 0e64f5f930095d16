import type { Entry } from "../access/admit.ts";
import type { Principal } from "../access/principal.ts";
import type { ClientPresence } from "./call.ts";
import type { Gateway } from "./gateway.ts";
import type { HeldMemory } from "./memory-budget.ts";

/** What a request has from the moment that it is known who sends it. */
export interface EnteredRequest {
  entry: Entry;
  memory: HeldMemory;
}

/**
 * A request on its way to admission: counted before it is read (S17). If it is turned away, what it had taken is given back;
 * once `read` has come to its end, the settlement of the call does that.
 */
export async function beforeAdmission<T>(
  principal: Principal,
  client: ClientPresence,
  gateway: Gateway,
  read: (entered: EnteredRequest) => Promise<T>,
): Promise<T> {
  let entered: EnteredRequest | undefined;
  try {
    entered = { entry: gateway.admissions.enter(principal), memory: gateway.memory.open(principal) };
    return await read(entered);
  } catch (refusal) {
    entered?.entry.leave();
    entered?.memory.release();
    client.release();
    throw refusal;
  }
}
