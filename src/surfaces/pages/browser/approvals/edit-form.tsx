/** The input as JSON to edit, and the changes of the edit before it is sent. */
import type { JSX } from 'preact';
import { useMemo } from 'preact/hooks';
import type { JsonObject, JsonValue } from '../../../../json/value.ts';
import { visibleJson } from '../parts/visible.ts';
import { DiffView } from './diff-view.tsx';
import { labelOf } from './heading.tsx';
import type { Inbox } from './inbox.ts';
import { focusSoon } from './keys.ts';
import type { PaneProps } from './pane-props.ts';
import { Part } from './part.tsx';

/** The text that a person has written, and its value. */
export type ReadInput = { readonly input: JsonObject } | { readonly fault: string };

/** Most lines that are in sight at once. */
const mostRows = 40;

interface EditProps {
  readonly inbox: Inbox;
  readonly id: string;
  readonly asked: JsonObject;
  readonly read: ReadInput;
}

/** Reads the edit of an approval. Without an edit, this is the original input. */
export function useEdit(text: string | undefined, asked: JsonObject): ReadInput {
  return useMemo(() => (text === undefined ? { input: asked } : readInput(text)), [text, asked]);
}

export function EditForm({ inbox, id, asked, read }: EditProps): JSX.Element {
  const { text } = inbox.draftOf(id);
  const before = useMemo(() => visibleJson(asked), [asked]);
  const rows = useMemo(() => Math.min(mostRows, before.split('\n').length + 2), [before]);
  return (
    <form
      class="part"
      id="edit"
      onSubmit={(event) => {
        event.preventDefault();
        if (!('input' in read)) return;
        inbox.change(id, { doing: 'review', trouble: '' });
        focusSoon('.diff');
      }}
    >
      <label class="named">
        Input to run instead, as JSON
        <textarea
          class="field json-field"
          rows={rows}
          spellcheck={false}
          autocomplete="off"
          value={text ?? before}
          aria-invalid={'fault' in read}
          aria-describedby="edit-fault"
          onInput={({ currentTarget }) => inbox.change(id, { text: currentTarget.value })}
        />
      </label>
      <p id="edit-fault" class={'fault' in read ? 'notice bad' : 'soft small'}>
        {'fault' in read
          ? read.fault
          : 'It is validated and judged again. If the tool does not accept it, the call ends.'}
      </p>
    </form>
  );
}

export function EditButtons({
  inbox,
  id,
  read,
}: Pick<EditProps, 'inbox' | 'id' | 'read'>): JSX.Element {
  return (
    <div class="row">
      <button type="submit" form="edit" class="button main" disabled={'fault' in read}>
        Review the changes
      </button>
      <button
        type="button"
        class="button"
        onClick={() => {
          inbox.change(id, { doing: 'look' });
          focusSoon('.pane');
        }}
      >
        Back
      </button>
      <button
        type="button"
        class="button"
        disabled={inbox.draftOf(id).text === undefined}
        onClick={() => {
          inbox.change(id, { text: undefined });
          focusSoon('.pane textarea');
        }}
      >
        Discard the edit
      </button>
    </div>
  );
}

/** The value that is sent is compared, whatever the text looks like. */
export function Review({
  asked,
  input,
}: {
  readonly asked: JsonObject;
  readonly input: JsonObject;
}): JSX.Element {
  const before = useMemo(() => visibleJson(asked), [asked]);
  const after = useMemo(() => visibleJson(input), [input]);
  return (
    <Part title="What your edit changes">
      {before === after ? (
        <p class="notice">Nothing. This is the input as it was asked.</p>
      ) : (
        <DiffView before={before} after={after} />
      )}
    </Part>
  );
}

export function ReviewButtons({
  inbox,
  entry,
  read,
  off,
}: Pick<PaneProps, 'inbox' | 'entry'> & {
  readonly read: ReadInput;
  readonly off: boolean;
}): JSX.Element {
  const { id, input: asked } = entry.asked;
  const isSame = 'fault' in read || JSON.stringify(read.input) === JSON.stringify(asked);
  return (
    <div class="row">
      <button
        type="button"
        class="button yes"
        disabled={off || isSame}
        onClick={({ detail }) => {
          if (detail > 1 || !('input' in read)) return;
          void inbox.answer(entry, { decision: 'allow_once', input: read.input });
          focusSoon('.pane');
        }}
      >
        {inbox.draftOf(id).sending ? 'Sent …' : 'Allow once with these changes'}
        <span class="unseen">: {labelOf(entry.asked)}</span>
      </button>
      <button
        type="button"
        class="button"
        disabled={inbox.draftOf(id).sending}
        onClick={() => {
          inbox.change(id, { doing: 'edit' });
          focusSoon('.pane textarea');
        }}
      >
        Back to editing
      </button>
    </div>
  );
}

function readInput(text: string): ReadInput {
  try {
    const input = JSON.parse(text) as JsonValue;
    return typeof input === 'object' && input !== null && !Array.isArray(input)
      ? { input: input as JsonObject }
      : { fault: 'Expected a JSON object: { … }.' };
  } catch (error) {
    return { fault: `This is not JSON. ${error instanceof Error ? error.message : ''}` };
  }
}
