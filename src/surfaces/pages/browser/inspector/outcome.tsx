/** The outcome of a call, in a word. */
import type { JSX } from 'preact';
import type { CallLine } from '../../inspector-wire.ts';
import { Badge, toneOf } from '../parts/badge.tsx';

/** How a call has ended, or how far it has got. */
export function Outcome({ line }: { readonly line: CallLine }): JSX.Element {
  const { phase, status, code } = line;
  if (phase === 'ended' && status !== undefined)
    return (
      <Badge tone={toneOf(status)}>{status === 'succeeded' ? 'succeeded' : (code ?? status)}</Badge>
    );
  const words = { gates: 'at the gates', approval: 'waits for a person', running: 'running' };
  return (
    <Badge tone={phase === 'approval' ? 'warn' : 'accent'}>
      {phase === 'ended' ? 'ended' : words[phase]}
    </Badge>
  );
}
