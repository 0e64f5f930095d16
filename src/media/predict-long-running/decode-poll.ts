import { Fields } from "../../canon/fields.ts";
import { defineBodyCheck } from "../check-body.ts";
import { type NamedOperation, readOperationName } from "./operation-name.ts";
import { PollRequest } from "./schema.ts";

const check = defineBodyCheck(PollRequest, () => {});

/** Reads the body of `:fetchPredictOperation` (contract 2.3). */
export function decodePoll(body: unknown): NamedOperation {
  const fields = new Fields(body);
  const name = fields.take("operationName") ?? fields.take("operation_name");
  return readOperationName(check(name === undefined ? body : { operationName: name }).operationName);
}
