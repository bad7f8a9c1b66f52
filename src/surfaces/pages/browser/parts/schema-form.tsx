/** A form with one field for each member of an input. */
import type { JSX } from 'preact';
import { useId } from 'preact/hooks';
import { type Changes, type Field, textIn } from './schema-fields.ts';
import { visibleJson, visibleName, visibleText } from './visible.ts';

export function SchemaForm({
  fields,
  changes,
  faults,
  change,
}: {
  readonly fields: readonly Field[];
  readonly changes: Changes;
  /** What is wrong, by the names of fields. */
  readonly faults: ReadonlyMap<string, string>;
  /** @param text Undefined leaves the field out. */
  readonly change: (name: string, text: string | undefined) => void;
}): JSX.Element {
  return (
    <div class="form-fields">
      {fields.length === 0 ? <p class="soft">The tool takes no arguments.</p> : null}
      {fields.map((field) => (
        <FieldRow
          key={field.name}
          field={field}
          text={textIn(field, changes)}
          fault={faults.get(field.name)}
          change={(text) => change(field.name, text)}
        />
      ))}
    </div>
  );
}

interface FieldProps {
  readonly field: Field;
  /** Undefined if it is left out. */
  readonly text: string | undefined;
  readonly change: (text: string | undefined) => void;
}

function FieldRow(props: FieldProps & { readonly fault: string | undefined }): JSX.Element {
  const { field, text, fault, change } = props;
  const id = useId();
  const { name, required, description, hint, kind } = field;
  const notes = [hint, kind === 'json' ? 'JSON' : ''].filter((note) => note !== '').join('; ');
  return (
    <div class="named">
      <div class="row field-head">
        <label for={id} class="wrap grow">
          {visibleName(name)}
          <span class="hint">
            {required ? '' : ' (optional)'}
            {description === '' ? '' : `: ${visibleText(description)}`}
          </span>
        </label>
        {required || text === undefined ? null : (
          <button type="button" class="button small" onClick={() => change(undefined)}>
            Leave out<span class="unseen"> {visibleName(name)}</span>
          </button>
        )}
      </div>
      <Control {...props} id={id} />
      {fault === undefined && notes === '' ? null : (
        <p id={`${id}-note`} class={fault === undefined ? 'hint' : 'fault'}>
          {fault ?? notes}
        </p>
      )}
    </div>
  );
}

/** The text `1` among numbers is in quotes, and so is the empty text. */
function choiceWords(choice: unknown, choices: readonly unknown[]): string {
  const isPlain = choices.every((one) => typeof one === 'string' && one.trim() !== '');
  return isPlain ? visibleText(choice as string) : visibleJson(choice);
}

/** Longer than 60 lines: the kinds of fields, with what they have in common. */
function Control({
  field: { kind, choices, required },
  text,
  fault,
  change,
  id,
}: FieldProps & { readonly id: string; readonly fault: string | undefined }): JSX.Element {
  const common = {
    id,
    class: 'field',
    'aria-invalid': fault !== undefined,
    'aria-describedby': `${id}-note`,
    'aria-required': required,
  };
  if (kind === 'choice' || kind === 'yes-no')
    return (
      <select
        {...common}
        value={text ?? ''}
        onChange={({ currentTarget: { value } }) => change(value === '' ? undefined : value)}
      >
        <option value="">{required ? 'choose …' : 'left out'}</option>
        {(kind === 'choice' ? choices : [true, false]).map((choice) => (
          <option key={JSON.stringify(choice)} value={JSON.stringify(choice)}>
            {kind === 'yes-no' ? (choice === true ? 'yes' : 'no') : choiceWords(choice, choices)}
          </option>
        ))}
      </select>
    );
  const given = {
    ...common,
    value: text ?? '',
    placeholder:
      text === undefined
        ? required
          ? ''
          : 'left out'
        : kind === 'text' || kind === 'long'
          ? 'empty'
          : '',
    autocomplete: 'off' as const,
    onInput: ({
      currentTarget,
    }: {
      readonly currentTarget: HTMLInputElement | HTMLTextAreaElement;
    }): void => change(currentTarget.value),
  };
  if (kind === 'long' || kind === 'json')
    return (
      <textarea
        {...given}
        rows={Math.min(24, Math.max(2, given.value.split('\n').length + 1))}
        spellcheck={kind === 'long'}
      />
    );
  return (
    <input
      {...given}
      type="text"
      inputMode={kind === 'text' ? 'text' : kind === 'integer' ? 'numeric' : 'decimal'}
    />
  );
}
