import { arrayAt, type JsonObject, stringAt } from "../../../base/json.ts";
import { withoutAbsent } from "../../../base/without-absent.ts";
import { requireSmallArguments } from "../../answer/answer-bounds.ts";
import { DeltaForm } from "../../answer/delta-form.ts";
import type { BuiltInTool } from "../request/built-in-tool.ts";
import { builtInTool } from "../request/built-in-tools.ts";
import { loadedTools } from "../request/loaded-tools.ts";
import { isNamespace, Namespaces } from "../request/namespaces.ts";
import { type CalledItem, callItem, freeTextOf, type ItemStatus } from "./answer-items.ts";
import type { Deltas } from "./event-writer.ts";
import { type ItemPlace, itemAdded, itemDone, type OpenItem } from "./open-item.ts";

/** Writes a call of one of the client's tools while its arguments arrive. */
export class CallWriter implements OpenItem {
  readonly #place: ItemPlace;
  readonly #call: CalledItem;
  readonly #at: JsonObject;
  /** The text is the single argument of a function, and is extracted when it is complete. */
  readonly #wrapped: boolean;
  #input = "";
  #deltas: Deltas | undefined;

  constructor(place: ItemPlace, call: CalledItem, wrapped: boolean) {
    this.#place = place;
    this.#call = call;
    this.#at = { item_id: place.id, output_index: place.index };
    this.#wrapped = wrapped;
  }

  get form(): DeltaForm | undefined {
    return this.#wrapped ? DeltaForm.NOTHING : this.#deltas?.form;
  }

  begin(): string {
    return itemAdded(this.#place, callItem(this.#call, "", "in_progress"));
  }

  input(text: string): string {
    this.#input += text;
    return this.#wrapped ? "" : this.#write(text);
  }

  close(status: ItemStatus): { text: string; item: JsonObject } {
    const { custom, name } = this.#call;
    const { events } = this.#place;
    let text = "";
    if (this.#wrapped) {
      requireSmallArguments(this.#input);
      this.#input = freeTextOf(this.#input);
      text = this.#write(this.#input);
    } else if (this.#input === "" && !custom) {
      // Missing arguments become an empty object, because clients parse what they have assembled.
      text = this.input("{}");
    }
    const whole = this.#input;
    const done = custom
      ? events.write("response.custom_tool_call_input.done", { ...this.#at, input: whole })
      : events.write("response.function_call_arguments.done", { ...this.#at, name, arguments: whole });
    const item = callItem(this.#call, whole, status);
    return { text: text + done + itemDone(this.#place, item), item };
  }

  #write(text: string): string {
    if (text === "") return "";
    const type = this.#call.custom ? "response.custom_tool_call_input.delta" : "response.function_call_arguments.delta";
    this.#deltas ??= this.#place.events.deltas(type, this.#at);
    return this.#deltas.write(text);
  }
}

/** The client's view of a tool that the model called. */
interface CalledTool {
  name: string;
  namespace?: string;
  /** It takes free text. If the model got a function instead, its single argument is that text. */
  custom: boolean;
  builtIn?: BuiltInTool;
}

/** The client's names and kinds of its tools, by the names that the model got. */
export class CallNames {
  readonly #namespaces: Namespaces;
  readonly #custom = new Set<string>();
  readonly #builtIn = new Map<string, BuiltInTool>();

  constructor(request: JsonObject) {
    const tools = [...arrayAt(request, "tools"), ...loadedTools(request).map(({ raw }) => raw)];
    this.#namespaces = new Namespaces(tools);
    for (const tool of tools) {
      if (isNamespace(tool)) for (const inner of arrayAt(tool, "tools")) this.#note(inner, stringAt(tool, "name"));
      else this.#note(tool, undefined);
    }
  }

  #note(tool: unknown, namespace: string | undefined): void {
    const builtIn = builtInTool(tool);
    if (builtIn !== undefined && this.#namespaces.builtInName(builtIn.name)) this.#builtIn.set(builtIn.name, builtIn);
    const name = stringAt(tool, "name");
    if (name !== undefined && stringAt(tool, "type") === "custom")
      this.#custom.add(this.#namespaces.flatName(namespace, name));
  }

  toolOf(flatName: string): CalledTool {
    const custom = this.#custom.has(flatName);
    const builtIn = this.#builtIn.get(flatName);
    return { name: flatName, ...this.#namespaces.toolOf(flatName), custom, ...withoutAbsent({ builtIn }) };
  }
}
