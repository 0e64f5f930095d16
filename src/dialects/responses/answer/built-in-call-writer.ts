import { arrayAt, type JsonObject, objectAt, parseObject } from "../../../base/json.ts";
import { GatewayError } from "../../../canon/error.ts";
import { fitToolId } from "../../../canon/tool-id.ts";
import { requireSmallArguments } from "../../answer/answer-bounds.ts";
import { DeltaForm } from "../../answer/delta-form.ts";
import type { BuiltInTool } from "../request/built-in-tool.ts";
import { CALL_ID } from "../request/encode-items.ts";
import type { ItemStatus } from "./answer-items.ts";
import { type ItemPlace, itemAdded, itemDone, type OpenItem } from "./open-item.ts";

/**
 * Writes a call of a tool that the client knows by its type and the model got as a function. Its item has no text for arguments, so
 * they are written when they are complete.
 */
export class BuiltInCallWriter implements OpenItem {
  readonly form = DeltaForm.NOTHING;
  readonly #place: ItemPlace;
  readonly #tool: BuiltInTool;
  readonly #callId: string;
  #input = "";

  constructor(place: ItemPlace, tool: BuiltInTool, callId: string) {
    this.#place = place;
    this.#tool = tool;
    this.#callId = fitToolId(callId, CALL_ID);
  }

  begin(): string {
    return itemAdded(this.#place, this.#item("in_progress", this.#tool.empty));
  }

  input(text: string): string {
    this.#input += text;
    return "";
  }

  /** A call that differs from the model's could do anything, so arguments that make none are an error unless they were cut off. */
  close(status: ItemStatus): { text: string; item: JsonObject } {
    requireSmallArguments(this.#input);
    const call = this.#tool.callOf(parseObject(this.#input) ?? {});
    if (call === undefined && status === "completed") {
      const { name } = this.#tool;
      throw new GatewayError("upstream_failed", `The model called ${name} with arguments that do not match the tool.`);
    }
    const item = this.#item(status, call ?? this.#tool.empty);
    const commands = arrayAt(objectAt(item, "action"), "commands");
    return { text: this.#commands(commands) + itemDone(this.#place, item), item };
  }

  #item(status: ItemStatus, call: JsonObject): JsonObject {
    return { id: this.#place.id, type: `${this.#tool.name}_call`, status, call_id: this.#callId, ...call };
  }

  #commands(commands: readonly unknown[]): string {
    const { events, index } = this.#place;
    const write = (step: string, fields: JsonObject) => events.write(`response.shell_call_command.${step}`, fields);
    return commands
      .map((command, command_index) => {
        const at = { output_index: index, command_index };
        return (
          write("added", { ...at, command: "" }) +
          write("delta", { ...at, delta: command }) +
          write("done", { ...at, command })
        );
      })
      .join("");
  }
}
