import type { Json } from "../../json.ts";
import type { Refusal } from "../compatible/text/behaviour.ts";

const NUMBERS: Readonly<Record<number, string>> = {
  400: "1210",
  401: "1002",
  404: "1211",
  429: "1302",
  503: "1305",
};
const CONTENT_REFUSED = "1301";

/** This host counts its errors. */
export function inZhipuWords({ status, message, code }: Refusal): Json {
  const number = code === "content_filter" ? CONTENT_REFUSED : (NUMBERS[status] ?? "500");
  return { error: { code: number, message } };
}
