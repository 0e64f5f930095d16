import { HostError } from "../../../host-error.ts";
import { isObject, type Json, type JsonObject } from "../../../json.ts";

/** What an error in this host's shape says, for hosts that say the same in another. */
export interface Said {
  status: number;
  message: string;
  type: string;
  param: string | null;
  code: string | null;
}

const text = (value: Json | undefined): string | null => (typeof value === "string" ? value : null);

function saidBy(error: HostError): Said {
  const body = JSON.parse(error.body) as JsonObject;
  const said = isObject(body.error) ? body.error : {};
  return {
    status: error.status,
    message: text(said.message) ?? "",
    type: text(said.type) ?? "invalid_request_error",
    param: text(said.param),
    code: text(said.code),
  };
}

/** Does the work of a host that counts and calls its refusals otherwise. */
export async function inWordsOf<T>(host: (said: Said) => Json, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof HostError)) throw error;
    throw new HostError(error.status, JSON.stringify(host(saidBy(error))), error.headers);
  }
}
