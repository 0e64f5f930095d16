import { isObject } from "../base/json.ts";
import { withoutAbsent } from "../base/without-absent.ts";
import { GatewayError } from "../canon/error.ts";
import { matches } from "./model-glob.ts";

/** Of the whole price. */
const FULL_BASIS_POINTS = 10_000;

/** A project's discount on the list price, as stored and shown. */
export interface Discount {
  /** Hundredths of a percent. */
  readonly basis_points: number;
  /** Only for models that this pattern covers. */
  readonly model?: string;
  /** Only for offers of this provider. */
  readonly provider?: string;
}

const NAMES: ReadonlySet<string> = new Set(["basis_points", "model", "provider"]);

/** Reads a list of discounts from input or storage; throws if one could not be applied. */
export function readDiscounts(value: unknown, path = "discounts"): readonly Discount[] {
  if (!Array.isArray(value)) refuse(path, 'must be a list such as [{"model": "*", "basis_points": 1500}]');
  return value.map((item, index) => readDiscount(item, `${path}[${index}]`));
}

function readDiscount(value: unknown, path: string): Discount {
  if (!isObject(value)) refuse(path, 'must be an object such as {"basis_points": 1500}');
  for (const name in value) {
    if (!NAMES.has(name)) refuse(`${path}.${name}`, `is unknown; expected one of ${[...NAMES].join(", ")}`);
  }
  const { basis_points: points, model, provider } = value;
  if (typeof points !== "number" || !Number.isInteger(points) || points < 1 || points > FULL_BASIS_POINTS) {
    const right = `a whole number from 1 to ${FULL_BASIS_POINTS}: hundredths of a percent, 1500 for 15%`;
    refuse(`${path}.basis_points`, `must be ${right}`);
  }
  return withoutAbsent({
    basis_points: points,
    model: model === undefined ? undefined : wordOf(model, `${path}.model`, "a pattern of model ids"),
    provider: provider === undefined ? undefined : wordOf(provider, `${path}.provider`, "the name of a provider"),
  });
}

function wordOf(value: unknown, path: string, right: string): string {
  if (typeof value !== "string" || value === "" || value.length > MAX_WORD) refuse(path, `must be ${right}`);
  return value;
}

const MAX_WORD = 200;

/**
 * Reads a discount from the command line: `10%`, `openai=15%`, `anthropic/*=20%`. A slash or an asterisk means models.
 */
export function readDiscountFlag(text: string): Discount {
  const [, subject, percent] = FLAG.exec(text) ?? [];
  const points = Math.round(Number(percent) * 100);
  if (percent === undefined || !(points >= 1 && points <= FULL_BASIS_POINTS)) {
    refuse(
      "discount",
      `${JSON.stringify(text.slice(0, 100))} must look like 10%, PROVIDER=15% or "MODEL/*=20%", at most 100%`,
    );
  }
  if (subject === undefined) return { basis_points: points };
  return /[*/]/.test(subject) ? { model: subject, basis_points: points } : { provider: subject, basis_points: points };
}

const FLAG = /^(?:([^=]{1,200})=)?(\d{1,3}(?:\.\d{1,2})?)%$/;

function refuse(path: string, problem: string): never {
  throw new GatewayError("invalid_request", `${path} ${problem}.`, { path });
}

/** The discounts of a project. They do not add up: the most specific one applies. */
export class Discounts {
  readonly #list: readonly Discount[];

  constructor(list: readonly Discount[]) {
    this.#list = list.toSorted((one, other) => specificity(other) - specificity(one));
  }

  /** In basis points; 0 if none matches. */
  of(model: string, provider: string): number {
    for (const discount of this.#list) {
      if (discount.provider !== undefined && discount.provider !== provider) continue;
      if (discount.model === undefined || matches(discount.model, model)) return discount.basis_points;
    }
    return 0;
  }
}

const specificity = ({ model, provider }: Discount): number =>
  (model === undefined ? 0 : 2) + (provider === undefined ? 0 : 1);
