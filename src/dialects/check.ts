import type { Static, TSchema } from "typebox";
import { Compile } from "typebox/compile";
import { GatewayError } from "../canon/error.ts";
import { isObject } from "../canon/json.ts";
import { explainMismatch } from "./explain.ts";
import { DEEPEST_NESTING, nestsDeeperThan } from "./nesting.ts";
import type { SchemaNode } from "./schema-node.ts";

/** `contract`: exactly the contract. `dropin`: for clients that can only be given a host; adapted where it can be. */
export type Door = "contract" | "dropin";

export interface CheckContext {
  door: Door;
  model: { id: string; reasoning: boolean };
}

/** Throws a GatewayError for the first problem found; returns when there is none. */
export type RequestCheck<T> = (body: unknown, context: CheckContext) => asserts body is T;

/** What a schema cannot say: relations between fields, and what depends on the door or the model. */
export interface CheckRules<T> {
  /** Runs before the schema, on an object of any content. */
  gate?: (body: Readonly<Record<string, unknown>>, context: CheckContext) => void;
  /** Runs after the schema. */
  relations: (body: T, context: CheckContext) => void;
}

export function refuse(path: string, problem: string): never {
  throw new GatewayError("invalid_request", `${path} ${problem}.`, { path });
}

/** On the way through, one call of compiled code; the walk that finds words for a failure runs only after one. */
export function defineCheck<S extends TSchema>(schema: S, rules: CheckRules<Static<S>>): RequestCheck<Static<S>> {
  const validator = Compile(schema);
  return (body, context) => {
    if (nestsDeeperThan(body, DEEPEST_NESTING)) {
      const problem = `The request body is nested deeper than ${DEEPEST_NESTING} levels`;
      throw new GatewayError("invalid_request", `${problem}; it must be flatter.`);
    }
    if (rules.gate !== undefined && isObject(body)) rules.gate(body, context);
    if (!validator.Check(body)) throw explained(schema, body);
    rules.relations(body as Static<S>, context);
  };
}

function explained(schema: TSchema, body: unknown): GatewayError {
  const mismatch = explainMismatch(schema as SchemaNode, body);
  if (mismatch === undefined)
    return new GatewayError("invalid_request", "The request body has a shape that is not accepted.");
  if (mismatch.path === "") return new GatewayError("invalid_request", `The request body ${mismatch.problem}.`);
  return new GatewayError("invalid_request", `${mismatch.path} ${mismatch.problem}.`, { path: mismatch.path });
}
