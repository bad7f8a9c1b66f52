/** Where the arguments of a call came from. */
import type { JSX } from 'preact';
import { head } from '../../../../values/text/characters.ts';
import { Badge, toneOf } from './elements.tsx';
import { visibleJson } from './visible.ts';

interface ShownOrigin {
  readonly path: string;
  /** A JSON value. Shown if there is one. */
  readonly value?: unknown;
  readonly origin: string;
  readonly seen?: { readonly callId: string; readonly toolName: string };
  readonly approvedBy?: string;
}

const meaning: Readonly<Record<string, string>> = {
  user: 'the user wrote it',
  trusted: 'from trusted output',
  untrusted: 'from untrusted output',
  unknown: 'seen nowhere: the model composed it',
};

/** Most characters of a value in the table. */
const maxOfValue = 200;

function shortened(text: string): string {
  return text.length <= maxOfValue ? text : `${head(text, maxOfValue)}…`;
}

export function OriginsTable({
  origins,
}: {
  readonly origins: readonly ShownOrigin[];
}): JSX.Element {
  return (
    <table class="compact">
      <thead>
        <tr>
          <th scope="col">Argument</th>
          <th scope="col">Origin</th>
          <th scope="col">First seen</th>
        </tr>
      </thead>
      <tbody>
        {origins.map(({ path, value, origin, seen, approvedBy }, at) => (
          <tr key={`${at} ${path}`}>
            <td class="mono wrap">
              {path}
              {value === undefined ? '' : `: ${shortened(visibleJson(value))}`}
            </td>
            <td>
              <Badge tone={toneOf(origin)}>{origin}</Badge>
            </td>
            <td class="wrap small">
              {approvedBy !== undefined
                ? `approved by ${approvedBy}`
                : seen === undefined
                  ? (meaning[origin] ?? '')
                  : `in the output of ${seen.toolName} (${seen.callId})`}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
