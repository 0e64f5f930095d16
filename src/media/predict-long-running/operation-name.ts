import { refuse } from "../../dialects/reading/check.ts";
import { describeValue } from "../../dialects/reading/describe-value.ts";

/** The operation and model in an operation's name. */
export interface NamedOperation {
  operationId: string;
  /** `<provider>/<model_name>`, as the name has it. */
  model: string;
}

const NAME =
  /^(?:projects\/[^/]+\/locations\/[^/]+\/)?publishers\/([^/]+)\/models\/([^/]+)\/operations\/([\w-]{1,128})$/;

/** The name by which a client polls (contract 2.2). SDKs build the poll's URL from the part before `/operations/`. */
export function operationName(model: string, operationId: string): string {
  const slash = model.indexOf("/");
  return `publishers/${model.slice(0, slash)}/models/${model.slice(slash + 1)}/operations/${operationId}`;
}

export function readOperationName(name: string): NamedOperation {
  const [, publisher, model, operationId] = NAME.exec(name) ?? [];
  if (publisher === undefined || model === undefined || operationId === undefined) {
    const shape = "publishers/<provider>/models/<model>/operations/<operation_id>";
    return refuse("operationName", `must be of the form ${shape}; it is ${describeValue(name)}`);
  }
  return { operationId, model: `${publisher}/${model}` };
}
