import { BadGateway, HostError } from "../host-error.ts";
import type { Refusal } from "../hosts/compatible/text/behaviour.ts";
import { refusalOf } from "../hosts/compatible/text/errors.ts";
import type { Json } from "../json.ts";

/** Runs code that throws OpenAI's errors for a host that has other codes and another shape of errors. */
export async function withHostErrors<T>(host: (refusal: Refusal) => Json, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof HostError) || error instanceof BadGateway) throw error;
    throw new HostError(error.status, JSON.stringify(host(refusalOf(error))), error.headers);
  }
}
