import { session } from "../api/client.ts";

/** Operators of one project have no list of calls. */
export const mayReadCalls = (): boolean => session.value?.role !== "project";
