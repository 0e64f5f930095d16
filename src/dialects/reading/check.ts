import type { Static, TSchema } from "typebox";
import { isObject } from "../../base/json.ts";
import { GatewayError } from "../../canon/error.ts";
import { explainMismatch, type Mismatch } from "./explain-mismatch.ts";
import { type ReadNames, readNamesOf, refuseMiscasedKeys } from "./key-case.ts";
import { listedOnly } from "./listed-only.ts";
import { MAX_NESTING, nestsDeeperThan } from "./nesting.ts";
import type { SchemaNode } from "./schema-node.ts";
import { withoutNulls } from "./without-nulls.ts";

/** `contract`: exactly the contract. `dropin`: for clients that can only be given a host; adapted where it can be. */
export type Door = "contract" | "dropin";

export interface CheckContext {
  door: Door;
  model: { id: string; reasoning: boolean };
  /** How clients reach the gateway; absent where nothing is said of it. */
  publicUrl?: () => string;
  /** How deeply the body is nested, where whoever read it has seen that. */
  levels?: number | undefined;
}

/** Throws a GatewayError for the first problem found; gives the body back, without nulls that only say "not given". */
export interface RequestCheck<T> {
  (body: unknown, context: CheckContext): T;
  withoutNulls(body: unknown): unknown;
}

/** What a schema cannot say: relations between fields, and what depends on the door or the model. */
export interface CheckRules<T> {
  /** Names that are looked at although the schema does not have them. */
  alsoRead?: readonly string[];
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
  const forms: Partial<Record<Door, CompiledForm>> = {};
  // Compiling takes some tens of milliseconds, and few processes see every protocol at both doors.
  const formAt = (door: Door): CompiledForm => {
    const form = forms[door] ?? compiled(door === "contract" ? listedOnly(schema) : schema);
    forms[door] = form;
    return form;
  };
  let names: ReadNames | undefined;
  const clean = (body: unknown) => withoutNulls(schema as SchemaNode, body);
  const check = (body: unknown, context: CheckContext): Static<S> => {
    if (context.levels === undefined ? nestsDeeperThan(body, MAX_NESTING) : context.levels > MAX_NESTING) {
      const problem = `The request body is nested deeper than ${MAX_NESTING} levels`;
      throw new GatewayError("invalid_request", `${problem}; it must be flatter.`);
    }
    names ??= readNamesOf(schema as SchemaNode, rules.alsoRead);
    refuseMiscasedKeys(body, names);
    if (rules.gate !== undefined && isObject(body)) rules.gate(body, context);
    const form = formAt(context.door);
    const taken = form.check(body) ? body : repaired(body, form);
    rules.relations(taken as Static<S>, context);
    return taken as Static<S>;
  };
  return Object.assign(check, { withoutNulls: clean });
}

/** A schema as one of the doors has it. */
interface CompiledForm {
  schema: SchemaNode;
  check: (body: unknown) => boolean;
}

function compiled(schema: TSchema): CompiledForm {
  // Loaded with the first request of any client: a gateway at rest needs nothing of it (docs/decisions/0071).
  const { Compile } = require("typebox/schema") as typeof import("typebox/schema");
  const validator = Compile(schema);
  return { schema: schema as SchemaNode, check: (body) => validator.Check(body) };
}

/** The body without nulls, where nothing else is wrong with it; what is wrong is thrown. */
function repaired(body: unknown, { schema, check }: CompiledForm): unknown {
  const mismatch = explainMismatch(schema, body);
  if (mismatch?.isNull !== true) throw errorOf(mismatch);
  const clean = withoutNulls(schema, body);
  if (!check(clean)) throw errorOf(explainMismatch(schema, clean));
  return clean;
}

function errorOf(mismatch: Mismatch | undefined): GatewayError {
  if (mismatch === undefined)
    return new GatewayError("invalid_request", "The request body has a shape that is not accepted.");
  const { path, problem } = mismatch;
  if (path === "") return new GatewayError("invalid_request", `The request body ${problem}.`);
  return new GatewayError("invalid_request", `${path} ${problem}.`, { path });
}
