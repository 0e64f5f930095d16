import Anthropic from "@anthropic-ai/sdk";
import { ApiError } from "@google/genai";
import OpenAI from "openai";
import type { ScriptedDialect } from "../../testing/sampled-dialects.ts";

/** What a vendor's SDK reports about an error. */
export interface SdkFailure {
  /** The name of the SDK's class. */
  class: string;
  status: number | undefined;
  /** The protocol's word for it. */
  type: string;
  /** The more exact word that one of the protocols has. */
  code: string | null | undefined;
  message: string;
  retryAfter: string | undefined;
}

interface GenaiError {
  status: string;
  message: string;
  details?: { retryDelay?: string }[];
}

const openaiFailure = (thrown: unknown): SdkFailure => {
  if (!(thrown instanceof OpenAI.APIError)) throw thrown;
  const headers = thrown.headers as Headers | undefined;
  return {
    class: thrown.constructor.name,
    status: thrown.status as number | undefined,
    type: thrown.type ?? "",
    code: thrown.code ?? null,
    message: thrown.message,
    retryAfter: headers?.get("retry-after") ?? undefined,
  };
};

export const FAILURES: Readonly<Record<ScriptedDialect, (thrown: unknown) => SdkFailure>> = {
  chat: openaiFailure,
  responses: openaiFailure,
  messages: (thrown) => {
    if (!(thrown instanceof Anthropic.APIError)) throw thrown;
    const headers = thrown.headers as Headers | undefined;
    return {
      class: thrown.constructor.name,
      status: thrown.status as number | undefined,
      type: thrown.type ?? "",
      code: undefined,
      message: thrown.message,
      retryAfter: headers?.get("retry-after") ?? undefined,
    };
  },
  // The package keeps the body as its message, and no headers.
  genai: (thrown) => {
    if (!(thrown instanceof ApiError)) throw thrown;
    const { error } = JSON.parse(thrown.message) as { error: GenaiError };
    const delay = error.details?.find(({ retryDelay }) => retryDelay !== undefined)?.retryDelay;
    return {
      class: thrown.constructor.name,
      status: thrown.status,
      type: error.status,
      code: undefined,
      message: error.message,
      retryAfter: delay?.replace(/s$/, ""),
    };
  },
};
