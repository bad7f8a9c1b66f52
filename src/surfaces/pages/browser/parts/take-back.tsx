/** Offers to take a call back, asks once more, and says what has come of it. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { UndoOutcome } from '../../approvals-wire.ts';
import type { Tone } from './elements.tsx';
import { several } from './words.ts';

type Doing = 'look' | 'ask' | 'wait';

export function TakeBack({
  tool,
  take,
}: {
  readonly tool: string;
  /** Takes the call back. Rejects with what the server says. */
  readonly take: () => Promise<UndoOutcome>;
}): JSX.Element {
  const [doing, set] = useState<Doing>('look');
  const [told, tell] = useState<Said | undefined>(undefined);
  const go = async (): Promise<void> => {
    set('wait');
    try {
      tell(wordsOf(await take()));
    } catch (error) {
      tell({ tone: 'bad', text: `It was not taken back: ${(error as Error).message}` });
    }
    set('look');
  };
  return (
    <section class="part" aria-label="Take it back">
      <div role="status">
        {told === undefined ? null : <p class={`notice ${told.tone} wrap`}>{told.text}</p>}
      </div>
      {told !== undefined && told.isOver === true ? null : doing === 'look' ? (
        <p>
          <button type="button" class="button" onClick={() => set('ask')}>
            Take it back
          </button>
        </p>
      ) : (
        <>
          <p class="wrap">
            Take this call of <b class="mono">{tool}</b> back? That is a call of its own, under its
            own rules, and cannot be taken back.
          </p>
          <p class="row">
            <button
              type="button"
              class="button main"
              disabled={doing === 'wait'}
              onClick={() => void go()}
            >
              Yes, take it back
            </button>
            <button
              type="button"
              class="button"
              disabled={doing === 'wait'}
              onClick={() => set('look')}
            >
              Leave it
            </button>
          </p>
        </>
      )}
    </section>
  );
}

interface Said {
  readonly tone: Tone;
  readonly text: string;
  /** Whether there is nothing more to do. */
  readonly isOver?: boolean;
}

function wordsOf({ status, reason, message, reverted, left = [] }: UndoOutcome): Said {
  const names = left.map(({ toolName, callId, reason: why }) => `${toolName} (${callId}, ${why})`);
  const stay = left.length === 0 ? '' : ` These stay as they are: ${names.join('; ')}.`;
  const done = reverted === undefined ? '' : ` ${several(reverted, 'call')} taken back.`;
  if (status === 'running')
    return {
      tone: 'plain',
      text: 'It is being taken back. That takes longer, or a person has to allow it.',
    };
  if (status === 'succeeded')
    return {
      tone: left.length === 0 ? 'good' : 'warn',
      text: `This was taken back.${done}${stay}`,
      isOver: true,
    };
  if (status === 'pending')
    return {
      tone: 'warn',
      text: `A person has to allow this first: ${message ?? ''}${done}${stay}`,
    };
  return {
    tone: 'bad',
    text: `It was not taken back: ${message ?? reason ?? status}${done}${stay}`,
    isOver: reason === 'already_reverted',
  };
}
