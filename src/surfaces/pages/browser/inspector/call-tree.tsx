/** The calls that a call has made, such as those of a program, as a tree. */
import type { JSX } from 'preact';
import type { CallLine } from '../../inspector-wire.ts';
import { Badge, Part } from '../parts/elements.tsx';
import { durationOf, several } from '../parts/words.ts';
import { type CallNode, isProgram, positionOf } from './call-nodes.ts';
import { Outcome } from './in-words.tsx';

export function CallTree({
  tree,
  line,
  choose,
}: {
  readonly tree: CallNode;
  /** The call that is shown in detail. */
  readonly line: CallLine;
  readonly choose: (n: number) => void;
}): JSX.Element {
  return (
    <Part title={isProgram(tree) ? 'Calls of the program' : 'Calls that it led to'}>
      <ul class="call-tree" aria-label="Tree of calls">
        <Node node={tree} line={line} choose={choose} />
      </ul>
    </Part>
  );
}

function Node({
  node,
  line,
  choose,
}: {
  readonly node: CallNode;
  readonly line: CallLine;
  readonly choose: (n: number) => void;
}): JSX.Element {
  const { line: own, children, more } = node;
  const position = positionOf(own);
  const isHere = own.callId === line.callId;
  return (
    <li>
      <span class={`tree-row ${isHere ? 'here' : ''}`}>
        <span class="soft small mono at">{position ?? ''}</span>
        <span class="cut grow">
          {isHere ? (
            <strong aria-current="true">{own.tool}</strong>
          ) : (
            <button type="button" class="link" onClick={() => choose(own.n)}>
              {own.tool}
            </button>
          )}{' '}
          <span class="mono small soft">{own.preview}</span>
        </span>
        {own.attempt > 1 ? <Badge title="It had waited for a person.">resumed</Badge> : null}
        <Outcome line={own} />
        <span class="mono small soft took">{durationOf(own.durationMs)}</span>
      </span>
      {children.length === 0 ? null : (
        <ul>
          {children.map((child) => (
            <Node key={child.line.callId} node={child} line={line} choose={choose} />
          ))}
          {more === 0 ? null : <li class="soft small">{several(more, 'more call')}</li>}
        </ul>
      )}
    </li>
  );
}
