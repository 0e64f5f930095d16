import { BadGateway, HostError } from "../host-error.ts";
import type { Refusal } from "../hosts/compatible/text/behaviour.ts";
import { refusalOf } from "../hosts/compatible/text/errors.ts";
import type { Json } from "../json.ts";

/** Does the work of a host that counts and calls its refusals otherwise than OpenAI, whose words it is written in. */
export async function inWordsOf<T>(host: (refusal: Refusal) => Json, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof HostError) || error instanceof BadGateway) throw error;
    throw new HostError(error.status, JSON.stringify(host(refusalOf(error))), error.headers);
  }
}
