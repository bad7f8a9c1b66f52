/** What a call is called: the host's own title, if it set one, and the call in words. */
import type { JSX } from 'preact';
import { head } from '../../../../values/text/characters.ts';
import type { WaitingApproval } from '../../approvals-wire.ts';
import { Ticked, withoutTicks } from '../parts/elements.tsx';
import { agentsOf, several } from '../parts/words.ts';

type Asked = Pick<
  WaitingApproval,
  'title' | 'summary' | 'tool' | 'principal' | 'sessionId' | 'actor'
>;

/** The title of the library says nothing that the summary does not say. */
function hasOwnTitle({ title, tool }: Asked): boolean {
  return title !== `Allow \`${tool.name}\` to run?`;
}

/** Most characters of a title. It may quote the model, which must not push the input away. */
const maxOfTitle = 300;

function titleOf({ title }: Asked): string {
  const left = title.length - maxOfTitle;
  if (left <= 0) return title;
  return `${head(title, maxOfTitle)}… (${several(left, 'more character')})`;
}

/** For titles of parts and names of buttons. */
export function labelOf(asked: Asked): string {
  return hasOwnTitle(asked) ? withoutTicks(titleOf(asked)) : asked.summary;
}

export function Heading({ asked }: { readonly asked: Asked }): JSX.Element {
  return hasOwnTitle(asked) ? <Ticked text={titleOf(asked)} /> : <Summary asked={asked} />;
}

/** The line below the heading: the call, unless that is the heading, and for whom it is. */
export function Below({ asked }: { readonly asked: Asked }): JSX.Element {
  const { principal, sessionId, actor } = asked;
  const agents = agentsOf(actor);
  return (
    <>
      {hasOwnTitle(asked) ? (
        <>
          <Summary asked={asked} /> ·{' '}
        </>
      ) : null}
      {principal === undefined ? `in session ${sessionId}` : `for ${principal}`}
      {agents === undefined ? null : `, through ${agents}`}
    </>
  );
}

function Summary({ asked: { summary, tool } }: { readonly asked: Asked }): JSX.Element {
  const rest = summary.startsWith(tool.name) ? summary.slice(tool.name.length) : undefined;
  return rest === undefined ? (
    <span>{summary}</span>
  ) : (
    <>
      <span class="mono">{tool.name}</span>
      {rest}
    </>
  );
}
