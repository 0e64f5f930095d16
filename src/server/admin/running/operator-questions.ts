import { Type } from "../../../base/type.ts";
import { GUARD_DIRECTIONS, GUARD_VERDICTS } from "../../../canon/guard/guard-verdict.ts";
import { nullable } from "../../../dialects/reading/schema-builders.ts";
import { CallItem } from "../schemas/call-in-flight.ts";
import { SessionItem } from "../schemas/live-session.ts";
import { answerReader } from "./gathered.ts";

const readCalls = answerReader(Type.Object({ calls: Type.Array(CallItem), total: Type.Integer() }));
const readStopped = answerReader(Type.Object({ call: nullable(CallItem), stopped: Type.Boolean() }));
const readSessions = answerReader(Type.Object({ sessions: Type.Array(SessionItem), total: Type.Integer() }));
const readEnded = answerReader(Type.Object({ session: nullable(SessionItem) }));
const Verdicts = Type.Object({
  name: Type.String(),
  on: Type.Enum(GUARD_DIRECTIONS),
  verdict: Type.Enum(GUARD_VERDICTS),
  calls: Type.Integer({ minimum: 0 }),
});
const readVerdicts = answerReader(Type.Object({ verdicts: Type.Array(Verdicts) }));

interface CallFilter {
  project: string | undefined;
  key: string | undefined;
  model: string | undefined;
  provider: string | undefined;
}

/** Each of these is a question to all processes; `answer-operators.ts` answers it. */
export const askCalls = (details: { filter: CallFilter; sort: "oldest" | "newest"; limit: number }) => ({
  kind: "calls",
  details: { ...details },
  read: readCalls,
});

export const askToStop = (details: { receipt: string; project: string | undefined; who: string }) => ({
  kind: "stop_call",
  details,
  read: readStopped,
  settles: ({ call }: { call: CallItem | null }) => call !== null,
});

export const askSessions = (details: { project: string | undefined; key: string | undefined }) => ({
  kind: "live_sessions",
  details,
  read: readSessions,
});

export const askToEnd = (details: { id: string; project: string | undefined }) => ({
  kind: "end_live_session",
  details,
  read: readEnded,
  settles: ({ session }: { session: SessionItem | null }) => session !== null,
});

export const askVerdicts = (details: { guards: readonly string[] }) => ({
  kind: "guard_verdicts",
  details,
  read: readVerdicts,
});
