import type { Static } from "typebox";
import { Type } from "../../../base/type.ts";
import { type CheckRules, defineCheck, type RequestCheck, refuse } from "../../reading/check.ts";
import { nullable } from "../../reading/schema-builders.ts";
import { InputItem } from "./items.ts";
import { Metadata } from "./request.ts";
import { checkItems } from "./rules.ts";

/** The vendor's limit for one request. */
const MAX_ITEMS = 20;

const Items = Type.Array(InputItem, { maxItems: MAX_ITEMS, description: `At most ${MAX_ITEMS} at a time.` });

export const ConversationRequest = Type.Object(
  { items: Type.Optional(nullable(Items)), metadata: Type.Optional(nullable(Metadata)) },
  { title: "ConversationRequest" },
);

export const ConversationItemsRequest = Type.Object({ items: Items }, { title: "ConversationItemsRequest" });

/** A change of what a client attached to something stored. */
export const MetadataRequest = Type.Object({ metadata: nullable(Metadata) }, { title: "MetadataRequest" });

const rules: CheckRules<Static<typeof ConversationRequest>> = {
  relations({ items }) {
    for (const [index, item] of (items ?? []).entries()) {
      const { type } = item as { type?: unknown };
      if (type === "item_reference" || (!("role" in item) && (type ?? undefined) === undefined)) {
        refuse(`items[${index}]`, "is a reference to another item; send the item itself");
      }
    }
    checkItems(items ?? [], "items");
  },
};

export const checkConversation: RequestCheck<Static<typeof ConversationRequest>> = defineCheck(
  ConversationRequest,
  rules,
);

export const checkConversationItems: RequestCheck<Static<typeof ConversationItemsRequest>> = defineCheck(
  ConversationItemsRequest,
  rules,
);

export const checkMetadata: RequestCheck<Static<typeof MetadataRequest>> = defineCheck(MetadataRequest, {
  relations: () => {},
});
