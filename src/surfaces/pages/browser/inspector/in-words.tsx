/** Calls, rules and tools in words. */
import type { JSX } from 'preact';
import type { CallLine, FoundView } from '../../inspector-wire.ts';
import { Badge, toneOf } from '../parts/elements.tsx';
import { several } from '../parts/words.ts';

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

/** The tools to which a rule or a quota applies. */
const maxShown = 4;

export function Concerned({
  tools,
  names,
}: {
  readonly tools: number;
  /** The first of them. */
  readonly names: readonly string[];
}): JSX.Element {
  if (tools === 0) return <span class="soft">no tool that is registered</span>;
  return (
    <span title={names.join(', ')}>
      {several(tools, 'tool')}
      <span class="soft">
        : {names.slice(0, maxShown).join(', ')}
        {tools > maxShown ? ' …' : ''}
      </span>
    </span>
  );
}

// Descriptions of tools, in words.

/** The hints of a definition. */
export const flagWords: Readonly<Record<string, string>> = {
  readOnly: 'read-only',
  destructive: 'destructive',
  idempotent: 'idempotent',
  openWorld: 'open world',
};

const reasons: ReadonlyMap<string, string> = new Map([
  ['disabled', 'Disabled for the session.'],
  ['denied', 'A rule denies every call to it.'],
  ['not_delegated', 'It was not delegated to this agent.'],
  ['not_in_profile', 'The profile does not include it.'],
  ['not_registered', 'The profile names it, but it is not registered.'],
  ['not_discovered', 'The model has not found it yet. It can be called by its name.'],
  ['knobs_missing', 'The profile does not set its knobs as it needs them.'],
  ['tool_budget', 'It does not fit into the number of tools.'],
  ['token_budget', 'It does not fit into the budget of tokens.'],
]);

/** How a model found a tool, in words. */
export function howFound({ callId, words }: FoundView): string {
  const why = words.length === 0 ? 'by its meaning' : `by ${words.join(', ')}`;
  return `Found ${why}, in the call ${callId}.`;
}

/** A drop code in words. */
export function whyHidden(code: string, unlockedBy: readonly string[]): string {
  const known = reasons.get(code);
  if (known !== undefined) return known;
  if (!code.startsWith('fact_unmet:')) return code;
  const by = unlockedBy.length === 0 ? '' : ` ${unlockedBy.join(', ')} may provide it.`;
  return `It waits for the fact ${code.slice(11)}.${by}`;
}
