interface Rule {
  pattern: RegExp;
  /** The replacement; `$1` is a label that is kept. */
  by: string;
}

/** Last labels of host names. The list is short, since `messages.0.content` and `gpt-4.1` have dots too. */
const TOP_LABELS =
  "com|net|org|io|ai|dev|cloud|cn|eu|local|localdomain|internal|intern|intra|intranet|lan|corp|private|home|svc|cluster|consul|test|invalid|example";
/** Folders of programs and their files; a JSON pointer such as `/messages/0` begins differently. */
const ROOTS = "home|root|usr|var|opt|app|srv|etc|tmp|mnt|data|workspaces?|Users|builds?|proc|run|lib";

/** In this order: a URL contains a host, and a host may look like an id. */
const RULES: readonly Rule[] = [
  // Keys and tokens, whole or half hidden by their host.
  { pattern: /\b(?:sk|pk|gsk|xai)-[\w*.…-]*(?:\*{2,}|\d)[\w*.…-]*[\w*]/g, by: "[key]" },
  { pattern: /\b(?:AIza|ya29\.|AKIA|ASIA|hf_|gh[pous]_)[\w.-]{12,}/g, by: "[key]" },
  { pattern: /\beyJ[\w-]{8,}\.[\w-]+(?:\.[\w-]*)?/g, by: "[key]" },
  { pattern: /\b(Bearer|Basic)\s+[\w.~+/=-]{8,}/g, by: "$1 [key]" },
  // URLs.
  { pattern: /\b[a-z][a-z0-9+.-]{1,15}:\/\/[^\s"'`<>]*[^\s"'`<>.,;:!?)\]}]/gi, by: "[url]" },
  { pattern: /[\w.+-]+@[\w-]+(?:\.[\w-]+)+/g, by: "[email]" },
  { pattern: /\barn:aws[\w-]*:[^\s"'`,;)]+/g, by: "[id]" },
  { pattern: /(?<![\w.])(?:\d{1,3}\.){3}\d{1,3}(?::\d{1,5})?(?![\w.]*\d)/g, by: "[host]" },
  {
    pattern:
      /\[?(?<![\w:])(?=[0-9a-f:]*::)(?=[:]*[0-9a-f])(?:[0-9a-f]{0,4}:){2,7}[0-9a-f]{0,4}(?![\w:])\]?(?::\d{1,5})?/gi,
    by: "[host]",
  },
  { pattern: /(?<![\w:])(?:[0-9a-f]{1,4}:){7}[0-9a-f]{1,4}(?![\w:])/gi, by: "[host]" },
  {
    pattern: new RegExp(
      `(?<![\\w.@-])(?:\\w(?:[\\w-]*\\w)?\\.)+(?:${TOP_LABELS})(?::\\d{1,5})?(?![\\w-]|\\.\\w)`,
      "gi",
    ),
    by: "[host]",
  },
  { pattern: /\blocalhost(?::\d{1,5})?\b/gi, by: "[host]" },
  {
    // A single word is not a secret: fields have such names too ("tools.0.server: Field required").
    pattern:
      /\b((?:host(?:name)?|server|upstream|backend|node|pod|worker|instance)\s*[:=]\s*["'`]?)(?=[\w:]*(?:\d|[.-]\w))[\w.:-]*[\w]/gi,
    by: "$1[host]",
  },
  // Files of the host.
  { pattern: new RegExp(`(?<![\\w/.])/(?:${ROOTS})/[^\\s"'\`,;:)\\]]+`, "g"), by: "[path]" },
  { pattern: /\b[A-Z]:\\[^\s"'`,;]+/g, by: "[path]" },
  // Who the gateway is there, and what its request was called.
  { pattern: /\b(projects\/)[^\s/"'`]+/g, by: "$1[id]" },
  { pattern: /\b(?:org|proj|acct|user|team|ws|wrkspc|tenant)[-_](?=\w*\d)\w{6,}/g, by: "[id]" },
  { pattern: /\breq(?:uest)?[-_](?=[\w-]*\d)[\w-]{6,}/g, by: "[id]" },
  { pattern: /\b[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b/gi, by: "[id]" },
  {
    pattern:
      /\b((?:request|trace|correlation|session|log|event|account|organi[sz]ation|project|tenant|subscription|deployment|team|workspace|consumer|customer)[ _-]?(?:ids?|numbers?)\b\W{0,4})(?=[\w.-]*\d)[\w.-]*\w/gi,
    by: "$1[id]",
  },
  {
    pattern:
      /\b((?:account|organi[sz]ation|project|tenant|subscription|consumer|customer)\W{1,3})(?=[\w-]*\d)[\w-]{6,}/gi,
    by: "$1[id]",
  },
  { pattern: /\b(?=[0-9a-f]*[a-f])(?=[0-9a-f]*\d)[0-9a-f]{16,}\b/gi, by: "[id]" },
  { pattern: /(?<![\w.,-])\d{12}(?![\w.,]*\d)/g, by: "[id]" },
];

/** Where a text goes on with the insides of a program. */
const TRACE = /\s*(?:Traceback \(most recent call last\)|\n\s+at \S.*:\d+|\n\s*File ".*", line \d+)[\s\S]*/;

/**
 * A provider's message as a caller may read it: the sentence stays, what shows the provider's and the operator's internals
 * goes (S22). Agents act on some of these sentences ("prompt is too long: 210000 tokens > 200000 maximum"), so that figures,
 * names of models and fields, and the ids of a conversation's own calls are left as they are.
 */
export function redactText(text: string): string {
  let cleaned = text.replace(TRACE, "");
  for (const { pattern, by } of RULES) cleaned = cleaned.replace(pattern, by);
  return cleaned;
}
