import type { KeyView } from "../../../access/key-view.ts";
import { moneyOf, type Spent } from "../../../ledger/queries.ts";
import { oneOfField, type QueryValues, textField } from "../query-fields.ts";
import { keyBudgets } from "./key-budgets.ts";
import { KEY_STATES, keyState } from "./key-state.ts";

/** The share of a budget from which a key is near it, in percent. */
const NEAR_PERCENT = 80;

/** The filters and orders of the list of keys. */
export const KEY_LIST_FIELDS = {
  text: textField("Only keys whose name, id, project, last characters or tags contain this, ignoring case."),
  state: oneOfField("Only keys in this state.", KEY_STATES),
  near_budget: oneOfField(
    `Only keys that have used ${NEAR_PERCENT}% of one of their budgets or will exceed it before its end, or only others.`,
    ["true", "false"],
  ),
  sort: oneOfField(
    "`created`: newest first, the default. `spent`: the highest spending of this month first. `last_used`: latest first. `name`: in order.",
    ["created", "spent", "last_used", "name"],
  ),
};

type ListedKey = ReturnType<typeof listedKey>;

export function listedKey(key: KeyView, spent: Spent | undefined, nowMs: number) {
  const money = moneyOf(spent);
  return {
    ...key,
    spent_nano_usd: money,
    state: keyState(key, nowMs),
    budgets: keyBudgets(key.limits, money, nowMs),
  };
}

/** The keys that match, in the order asked for. */
export function listedKeys(
  keys: readonly KeyView[],
  spent: ReadonlyMap<string, Spent>,
  query: QueryValues<typeof KEY_LIST_FIELDS>,
  nowMs: number,
): ListedKey[] {
  const { state, near_budget: near, sort = "created" } = query;
  const text = query.text?.toLowerCase() ?? "";
  const found = keys
    .filter((key) => namesOf(key).some((name) => name.toLowerCase().includes(text)))
    .map((key) => listedKey(key, spent.get(key.id), nowMs))
    .filter((key) => state === undefined || key.state === state)
    .filter((key) => near === undefined || isNear(key) === (near === "true"));
  const order = ORDERS[sort];
  return order === undefined ? found : found.toSorted((one, other) => order(one, other) || compare(one.id, other.id));
}

const namesOf = ({ id, name, project, hint, tags }: KeyView): string[] => [id, name, project, hint, ...tags];

const isNear = ({ budgets }: ListedKey): boolean =>
  budgets.some((budget) => budget.used_percent >= NEAR_PERCENT || budget.exceeds_at !== null);

const compare = (one: string, other: string): number => (one < other ? -1 : one > other ? 1 : 0);

type Order = (one: ListedKey, other: ListedKey) => number;

/** The keys come in the order in which they were created. */
const ORDERS: Readonly<Record<string, Order | undefined>> = {
  spent: (one, other) => other.spent_nano_usd.month - one.spent_nano_usd.month,
  last_used: (one, other) => compare(other.last_used_at ?? "", one.last_used_at ?? ""),
  name: (one, other) => compare(one.name.toLowerCase(), other.name.toLowerCase()),
};
