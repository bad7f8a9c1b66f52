/** The tools to which a rule or a quota applies. */
import type { JSX } from 'preact';
import { several } from '../parts/words.ts';

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
