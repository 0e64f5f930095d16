import type { ComponentChildren } from "preact";
import { session } from "../api/client.ts";
import type { CallFilter } from "../state/filter.ts";
import { callsWith } from "./filter-bar.tsx";

/** Leads to the calls of a filter, for those who may list calls. */
export const ToCalls = ({ filter, children }: { filter: CallFilter; children: ComponentChildren }) =>
  session.value?.role === "project" ? <span>{children}</span> : <a href={callsWith(filter)}>{children}</a>;
