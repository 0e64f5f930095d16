import type { Finding } from "../api/types.ts";
import { money } from "../format/money.ts";
import { counted, whole } from "../format/numbers.ts";
import { about, day } from "../format/time.ts";

/** A finding as one sentence. */
export interface ToldFinding {
  severity: "bad" | "warn";
  /** One or two words that name what it is about. */
  about: string;
  text: string;
  /** In milliseconds; undefined if nobody knows. */
  sinceMs: number | undefined;
  /** Where to see more. */
  address: string;
  link: string;
}

const MAX_QUOTED = 160;

const quoted = (text: string): string => (text.length > MAX_QUOTED ? `${text.slice(0, MAX_QUOTED)}…` : text);

/** Ends what others wrote as a sentence. */
const ended = (text: string): string => (/[.!?…]$/.test(text.trim()) ? text.trim() : `${text.trim()}.`);

const PERIODS = { day: "daily", week: "weekly", month: "monthly", quarter: "quarterly", total: "total" } as const;

type Of<Kind extends Finding["kind"]> = Extract<Finding, { kind: Kind }>;
type Told = Omit<ToldFinding, "severity" | "sinceMs">;

function budget({ level, id, name, window, ...use }: Of<"budget">, nowMs: number): Told {
  const { spent_nano_usd: spent, limit_nano_usd: limit, used_percent: used, exceeds_at: exceedsAt } = use;
  const owner = level === "gateway" ? "the gateway" : `the ${level} ${name}`;
  const what = `The ${PERIODS[window]} budget of ${owner}`;
  const sums = `${money(spent)} of ${money(limit)}`;
  const end = use.ends_at === null ? "" : ` It starts again on ${about(use.ends_at, nowMs)}.`;
  const text =
    used >= 100
      ? `${what} is used up (${sums}), so its calls are refused.${end}`
      : exceedsAt === null
        ? `${what} is ${used}% used: ${sums}.`
        : `${what} will be used up on ${about(exceedsAt, nowMs)} at this rate. ${used}% is used: ${sums}.${end}`;
  const place =
    level === "key"
      ? { address: `/keys/${encodeURIComponent(id)}`, link: "The key" }
      : level === "project"
        ? { address: `/usage?${new URLSearchParams({ q: `project:${id}`, by: "day,key" })}`, link: "Its usage" }
        : { address: "/usage", link: "Usage" };
  return { about: "Budget", text, ...place };
}

function provider({ provider: name, credential, models, error }: Of<"provider_down">): Told {
  const who = credential === null ? name : `${name} (credential ${credential})`;
  const which = models.length === 0 ? "" : ` for ${counted(models.length, "model")}`;
  const why =
    error === null ? "" : ` ${error.status === null ? "" : `Status ${error.status}: `}${ended(quoted(error.text))}`;
  return {
    about: "Provider",
    text: `${who} is out of use${which}.${why}`,
    address: `/providers/${encodeURIComponent(name)}`,
    link: "The provider",
  };
}

function told(found: Finding, nowMs: number, nameOfKey: (id: string) => string): Told {
  switch (found.kind) {
    case "not_ready":
      return {
        about: "Not ready",
        text: `Calls are not accepted: ${ended(found.reason)}`,
        address: "/config",
        link: "Configuration",
      };
    case "degraded":
      return { about: "Degraded", text: ended(quoted(found.reason)), address: "/config", link: "Configuration" };
    case "provider_down":
      return provider(found);
    case "budget":
      return budget(found, nowMs);
    case "unpriced": {
      const more = found.more === 0 ? "" : ` and ${found.more} more`;
      return {
        about: "No price",
        text: `The price of ${found.names.join(", ")}${more} is unknown. Their cost is in no total.`,
        address: `/calls/${encodeURIComponent(found.receipt)}`,
        link: "The last call",
      };
    }
    case "refusals": {
      const { requests, reason, reason_requests: most, key, key_requests: withKey } = found;
      const who = key === null ? "" : `, ${whole(withKey)} with the key ${nameOfKey(key)}`;
      return {
        about: "Refused",
        text: `${counted(requests, "request")} refused within the last hour: ${whole(most)} as ${reason.replaceAll("_", " ")}${who}.`,
        address: `/refused?${new URLSearchParams({ range: "1h", reason, ...(key === null ? {} : { key }) })}`,
        link: "Which ones",
      };
    }
    case "export_failing":
      return {
        about: "Export",
        text: `The export ${found.name} has failed ${found.failures === 1 ? "once" : `${found.failures} times`}. ${found.error === null ? "" : ended(quoted(found.error))}`,
        address: "/exports",
        link: "Exports",
      };
    case "alert_failing":
      return {
        about: "Alert",
        text: ended(
          [
            `The webhook ${found.webhook} did not accept the last alert`,
            ...(found.status === null ? [] : [`status ${found.status}`]),
            ...(found.error === null ? [] : [quoted(found.error)]),
          ].join(": "),
        ),
        address: "/alerts",
        link: "Alerts",
      };
    case "config_refused": {
      const place = found.file === null ? "" : ` (${found.file}${found.line === null ? "" : `:${found.line}`})`;
      return {
        about: "Configuration",
        text: `The last change was not applied${place}: ${ended(quoted(found.message))}`,
        address: "/config",
        link: "Configuration",
      };
    }
    case "prices_old":
      return {
        about: "Prices",
        text: `${counted(found.prices, "price")} not checked for ${found.days >= 90 ? "three months or more" : `${found.days} days`}. The oldest is that of ${found.model} at ${found.provider}, of ${day(found.as_of)} ${found.as_of.slice(0, 4)}.`,
        address: "/catalogue",
        link: "Catalogue",
      };
  }
}

/** What an operator should read first, as the Admin API orders it. */
export const tellFindings = (
  findings: readonly Finding[],
  nowMs: number,
  nameOfKey: (id: string) => string,
): ToldFinding[] =>
  findings.map((found) => {
    const { text, ...rest } = told(found, nowMs, nameOfKey);
    return {
      severity: found.severity,
      // The hour that refusals are counted over is in the sentence.
      sinceMs: found.since === null || found.kind === "refusals" ? undefined : Date.parse(found.since),
      text: text.trim(),
      ...rest,
    };
  });
