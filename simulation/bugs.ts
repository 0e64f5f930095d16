import type { Bug } from "./bug.ts";
import { SERVICE_BUGS } from "./service-bugs.ts";

/** Each one looks harmless, and would otherwise be found in production at the earliest. */
export const BUGS: readonly Bug[] = [
  {
    name: "leases: an instance that is short itself gives nothing back",
    file: "src/leases/leased-window.ts",
    was: "    const kept = Math.max(inUse, level);\n",
    becomes: "    const kept = this.#waiting.size > 0 ? this.#held : Math.max(inUse, level);\n",
    isOfInstances: true,
  },
  {
    name: "leases: the needs of waiting calls are not reported",
    file: "src/leases/leased-window.ts",
    was: "      ...(waits && { waits }),\n",
    becomes: "",
    isOfInstances: true,
  },
  {
    name: "no abort: an abandoned request continues",
    file: "src/relay/attempt/attempt.ts",
    was: "    this.#exchange?.close();\n",
    becomes: "",
  },
  {
    name: "double settle: a call is settled twice",
    file: "src/relay/answer/unary.ts",
    was: "  await settle(call, gateway, {\n    outcome:",
    becomes:
      '  await settle(call, gateway, { outcome: "ok", whole: true, produced: true, usage: answer.usage, generatedCharacters: characters, reasoningSeen: false, stop: answer.stop, firstContentAtMs: undefined });\n  await settle(call, gateway, {\n    outcome:',
  },
  {
    name: "forgotten release: a call keeps its memory",
    file: "src/relay/settle/close-call.ts",
    was: "  call.memory.release();\n",
    becomes: "",
  },
  {
    name: "forgotten reservation: a call keeps its key's money",
    file: "src/access/entries/holds.ts",
    was: "  account.meter.reserved -= reservedFor(use);\n",
    becomes: "",
  },
  {
    name: "retry of a call that must not be repeated",
    file: "src/relay/attempt/try-offers.ts",
    was: "  error.rule.tryNextOffer && error.failure",
    becomes: "  error.failure",
  },
  {
    name: "a breaker that never closes",
    file: "src/routing/health/breaker.ts",
    was: "    this.#openUntilMs = 0;\n    this.#closedAtMs = nowMs;\n",
    becomes: "    this.#closedAtMs = nowMs;\n",
  },
  {
    name: "a breaker that never opens",
    file: "src/routing/health/breaker.ts",
    was: "return tookMs <= windowMs && answered <= failures && this.#openFirst(nowMs);",
    becomes: "return tookMs <= 0 && answered < 0 && this.#openFirst(nowMs);",
  },
  {
    name: "the row is stored after the last byte",
    file: "src/relay/answer/stream.ts",
    was: '      await this.#settle("ok");\n    } catch',
    becomes: '      void this.#settle("ok");\n    } catch',
  },
  {
    name: "lost lease: what a killed process was polling is never taken over",
    file: "src/storage/tables/operations.ts",
    was: "WHERE lease_until_ms < ? AND due_at_ms <= ?",
    becomes: "WHERE lease_until_ms < ? - 86400000 AND due_at_ms <= ?",
  },
  {
    name: "a submit whose response was lost is sent again",
    file: "src/relay/media/submit-videos.ts",
    was: "=> !(error instanceof UncertainError);",
    becomes: "=> error instanceof Error;",
  },
  {
    name: "lost text: what was held until the commit is dropped",
    file: "src/relay/answer/stream.ts",
    was: "      const more = this.#output.sendHeld(held);\n",
    becomes: "      this.#output.drop(held);\n      const more = true;\n",
  },
  {
    name: "a limit is exceeded by one concurrent call",
    file: "src/access/rate-limits.ts",
    was: "inFlight + 1 > concurrent",
    becomes: "inFlight > concurrent",
  },
  {
    name: "a budget forgets the calls in flight",
    file: "src/access/check-budgets.ts",
    was: "- meter.spent(measure, nowMs) - meter.reserved;",
    becomes: "- meter.spent(measure, nowMs);",
  },
  {
    name: "an admission knows one model",
    file: "src/access/entries/holds.ts",
    was: "    for (const uses of each) {\n      for (const use of uses) {",
    becomes: "    for (const uses of each) {\n      for (const use of uses.slice(0, 1)) {",
  },
  {
    name: "what a failed offer would have cost is billed",
    file: "src/relay/settle/billed-usage.ts",
    was: "if (!ending.produced || call.incoming",
    becomes: "if (call.incoming",
  },
  {
    name: "a leaked check: the watchdog never stops",
    file: "src/relay/answer/client-output.ts",
    was: "    this.#gateway.watchdog.unwatch(this);\n    const isReceived",
    becomes: "    const isReceived",
  },
  {
    name: "while the store is unavailable, rows are only in memory",
    file: "src/ledger/writer.ts",
    was: "    if (journal === undefined) return Promise.resolve();\n",
    becomes:
      "    if (journal !== undefined) {\n      for (const entry of entries) entry.release();\n      return Promise.resolve();\n    }\n",
  },
  ...SERVICE_BUGS,
];
