import { type Knobs, type Setting, settingsFor } from "../play/settings.ts";

interface PlaySettingsProps {
  /** Of the models that are called. */
  kinds: readonly string[];
  knobs: Knobs;
  apiKey: string;
  onChange: (changes: Partial<Knobs>) => void;
  onKey: (key: string) => void;
}

const numberOf = (text: string): number | undefined =>
  text.trim() === "" || Number.isNaN(Number(text)) ? undefined : Number(text);

function Field({ setting, knobs, onChange }: { setting: Setting } & Pick<PlaySettingsProps, "knobs" | "onChange">) {
  const { name, label, usual, type } = setting;
  const value = knobs[name];
  if (type === "check")
    return (
      <label class="check">
        <input
          type="checkbox"
          checked={value === true}
          onChange={(event) => onChange({ [name]: event.currentTarget.checked })}
        />
        {label}
      </label>
    );
  if (type === "number")
    return (
      <label>
        {label}
        <input
          type="number"
          min={setting.min}
          max={setting.max}
          step={setting.step ?? 1}
          placeholder={usual}
          value={typeof value === "number" ? value : ""}
          onInput={(event) => onChange({ [name]: numberOf(event.currentTarget.value) })}
        />
      </label>
    );
  const list = setting.options && `options-${name}`;
  return (
    <label class={name === "system" ? "long" : undefined}>
      {label}
      <input
        list={list}
        placeholder={usual}
        value={String(value ?? "")}
        onInput={(event) => onChange({ [name]: event.currentTarget.value })}
      />
      {list !== undefined && (
        <datalist id={list}>
          {setting.options?.map((option) => (
            <option key={option} value={option} />
          ))}
        </datalist>
      )}
    </label>
  );
}

/** The settings of the chosen kinds of models, and no others. */
export const PlaySettings = ({ kinds, knobs, apiKey, onChange, onKey }: PlaySettingsProps) => (
  <div class="knobs">
    {settingsFor(kinds).map((setting) => (
      <Field key={setting.name} setting={setting} knobs={knobs} onChange={onChange} />
    ))}
    <label>
      API key (optional)
      <input
        type="password"
        autocomplete="off"
        placeholder="temporary, $1"
        value={apiKey}
        onInput={(event) => onKey(event.currentTarget.value.trim())}
      />
    </label>
  </div>
);
