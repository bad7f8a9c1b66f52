/** A rejection, with a message for the agent. */
import type { JSX } from 'preact';
import { labelOf } from './heading.tsx';
import { focusSoon } from './keys.ts';
import type { PaneProps } from './pane-props.ts';

export function RejectForm({
  inbox,
  entry,
  off,
}: Pick<PaneProps, 'inbox' | 'entry'> & { readonly off: boolean }): JSX.Element {
  const { id } = entry.asked;
  const { message, sending } = inbox.draftOf(id);
  return (
    <form
      class="part"
      onSubmit={(event) => {
        event.preventDefault();
        void inbox.answer(entry, {
          decision: 'reject_once',
          ...(message.trim() === '' ? {} : { message }),
        });
        focusSoon('.pane');
      }}
    >
      <label class="named">
        Message to the agent, if you like
        <textarea
          class="field words"
          value={message}
          maxLength={4_000}
          onInput={({ currentTarget }) => inbox.change(id, { message: currentTarget.value })}
        />
      </label>
      <div class="row">
        <button type="submit" class="button no" disabled={off}>
          {sending ? 'Sent …' : 'Reject'}
          <span class="unseen">: {labelOf(entry.asked)}</span>
        </button>
        <button
          type="button"
          class="button"
          onClick={() => {
            inbox.change(id, { doing: 'look' });
            focusSoon('.pane');
          }}
        >
          Cancel
        </button>
      </div>
    </form>
  );
}
