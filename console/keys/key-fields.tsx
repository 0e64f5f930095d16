import type { ComponentChildren } from "preact";
import { session } from "../api/client.ts";
import type { Key } from "../api/types.ts";
import { LimitFields, PartLimitFields } from "../parts/key-forms.tsx";
import { ownZone, wallClock } from "../state/zone.ts";
import { CacheFields } from "./cache-fields.tsx";
import { type Group, PROTOCOLS } from "./key-input.ts";

interface Of {
  item: Key | undefined;
}

const Text = (props: { label: string; name: string; hint?: string; value?: string | undefined }) => (
  <label>
    {props.label}
    <input name={props.name} placeholder={props.hint ?? ""} defaultValue={props.value ?? ""} autocomplete="off" />
  </label>
);

const Check = (props: { name: string; isOn: boolean | undefined; value?: string; children: ComponentChildren }) => (
  <label class="check">
    <input name={props.name} type="checkbox" defaultChecked={props.isOn === true} value={props.value ?? "on"} />
    <span>{props.children}</span>
  </label>
);

interface SelectProps {
  label: string;
  name: string;
  value: string | undefined;
  options: readonly (readonly [value: string, name: string])[];
}

const Select = ({ label, name, value = "", options }: SelectProps) => (
  <label>
    {label}
    <select name={name} defaultValue={value}>
      {options.map(([option, shown]) => (
        <option key={option} value={option} selected={option === value}>
          {shown}
        </option>
      ))}
    </select>
  </label>
);

const General = ({ item }: Of) => {
  const expires = item?.expires_at == null ? "" : wallClock(Date.parse(item.expires_at), ownZone()).slice(0, 16);
  return (
    <>
      <label>
        Name
        <input
          name="name"
          required
          maxLength={100}
          placeholder="checkout assistant"
          defaultValue={item?.name ?? ""}
          autocomplete="off"
        />
      </label>
      <Text label="Tags for all its calls" name="tags" hint="team-a feature=search" value={item?.tags.join(" ")} />
      <label>
        Expires (empty: never; times of {ownZone()})
        <input name="expires_at" type="datetime-local" defaultValue={expires} />
      </label>
      <input type="hidden" name="expires_before" value={expires} />
    </>
  );
};

const Access = ({ item }: Of) => (
  <>
    <Text
      label="Models (empty: all)"
      name="models"
      hint="anthropic/* openai/gpt-5*"
      value={item === undefined || item.models.join() === "*" ? "" : item.models.join(" ")}
    />
    <fieldset class="checks">
      <legend>Protocols (none: all)</legend>
      {PROTOCOLS.map((name) => (
        <Check key={name} name="protocols" value={name} isOn={item?.protocols?.includes(name)}>
          {name}
        </Check>
      ))}
    </fieldset>
    <Text
      label="Networks that calls may come from (empty: all)"
      name="networks"
      hint="10.0.0.0/8 2001:db8::/32"
      value={item?.networks?.join(" ")}
    />
    <Check name="scope_keys" isOn={item?.scopes.includes("keys:create")}>
      May create child keys, which can do no more than it
    </Check>
  </>
);

const Data = ({ item }: Of) => (
  <>
    <Check name="strict" isOn={item?.strict}>
      Strict: reject requests with fields that cannot be honoured
    </Check>
    <Check name="capture" isOn={item?.capture}>
      Capture request and response bodies, so that operators can read them
    </Check>
    {session.value?.role === "admin" && (
      <>
        <input type="hidden" name="provider_objects_shown" value="1" />
        <Check name="provider_objects" isOn={item?.provider_objects}>
          May name objects in providers' accounts, also those of other projects
        </Check>
      </>
    )}
    <Select
      label="Who may see the files, batches and conversations it stores"
      name="objects"
      value={item?.objects ?? ""}
      options={[
        ["", "As its project says"],
        ["project", "All keys of its project"],
        ["private", "Only this key"],
      ]}
    />
    <Select
      label="Usage without a known price"
      name="unpriced"
      value={item?.billing.unpriced ?? ""}
      options={[
        ["", "As its project or the gateway says"],
        ["refuse", "Refuse"],
        ["mark", "Allow and mark the receipt"],
      ]}
    />
    <CacheFields cache={item?.cache} />
  </>
);

const YES_NO = [
  ["", "As the gateway says"],
  ["yes", "Yes"],
  ["no", "No"],
] as const;

const yesNo = (value: unknown): string => (value === true ? "yes" : value === false ? "no" : "");

const written = (value: unknown): string => (value === undefined || value === null ? "" : String(value));

const Routing = ({ item }: Of) => {
  const routing: Record<string, unknown> = { ...item?.routing };
  const require = (routing["require"] ?? {}) as Record<string, unknown>;
  const fallback = routing["fallback"];
  return (
    <div class="two-columns">
      <Select
        label="Strategy"
        name="type"
        value={written(routing["type"])}
        options={[
          ["", "As the gateway says"],
          ["priority", "By priority"],
          ["round_robin", "Round robin"],
          ["least_latency", "Least latency"],
        ]}
      />
      <Select
        label="Priority by"
        name="primary_factor"
        value={written(routing["primary_factor"])}
        options={[
          ["", "As the gateway says"],
          ["cost", "Cost"],
          ["speed", "Speed"],
          ["quality", "Quality"],
        ]}
      />
      <Text
        label="Fallback (yes, no, a provider or a model)"
        name="fallback"
        value={typeof fallback === "boolean" ? yesNo(fallback) : written(fallback)}
      />
      <Select
        label="Same offer for cached prompts"
        name="sticky"
        value={written(routing["sticky"])}
        options={[
          ["", "As the gateway says"],
          ["prompt_cache", "Yes"],
          ["off", "No"],
        ]}
      />
      <Select label="Continue broken streams" name="survive" value={yesNo(routing["survive"])} options={YES_NO} />
      <Select label="Hedge slow calls" name="hedge" value={yesNo(routing["hedge"])} options={YES_NO} />
      <label>
        Deadline in ms
        <input name="deadline_ms" type="number" min="1" step="1" defaultValue={written(routing["deadline_ms"])} />
      </label>
      <label>
        Most attempts
        <input name="max_attempts" type="number" min="1" step="1" defaultValue={written(routing["max_attempts"])} />
      </label>
      <Text
        label="Required retention"
        name="require_retention"
        hint="zero or 30d"
        value={written(require["retention"])}
      />
      <Text label="Required region" name="require_region" hint="eu" value={written(require["region"])} />
    </div>
  );
};

/** The fields of one group, as they are when a key is created and when it is changed. */
export function GroupFields({ group, item }: { group: Group; item: Key | undefined }) {
  switch (group) {
    case "general":
      return <General item={item} />;
    case "limits":
      return <LimitFields limits={item?.limits ?? {}} legend="Limits and budgets (empty: none of its own)" />;
    case "access":
      return <Access item={item} />;
    case "data":
      return <Data item={item} />;
    case "routing":
      return <Routing item={item} />;
    case "parts":
      return <PartLimitFields item={item} isOpen />;
  }
}
