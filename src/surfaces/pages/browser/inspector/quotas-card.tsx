/** The quotas, as they were written. */
import type { JSX } from 'preact';
import type { QuotaLine } from '../../inspector-session-wire.ts';
import { Badge, toneOf } from '../parts/badge.tsx';
import { Scroll } from '../parts/scroll.tsx';
import { countOf, several } from '../parts/words.ts';
import { Concerned } from './concerned.tsx';

export function QuotasCard({
  quotas,
}: {
  readonly quotas: readonly QuotaLine[];
}): JSX.Element | null {
  if (quotas.length === 0) return null;
  return (
    <section class="card">
      <header>
        <h2 class="grow">{several(quotas.length, 'quota')}</h2>
      </header>
      <Scroll name="table" label="Table of quotas">
        <table>
          <thead>
            <tr>
              <th scope="col">Quota</th>
              <th scope="col">Beyond it</th>
              <th scope="col">Concerns</th>
              <th scope="col">Counts</th>
              <th scope="col" class="number">
                At most
              </th>
            </tr>
          </thead>
          <tbody>
            {quotas.map((quota, at) => (
              <QuotaRow key={`${quota.layer} ${quota.id} ${at}`} quota={quota} />
            ))}
          </tbody>
        </table>
      </Scroll>
    </section>
  );
}

function QuotaRow({ quota }: { readonly quota: QuotaLine }): JSX.Element {
  const { id, layer, max, per, by, sum, over, tools, toolNames } = quota;
  return (
    <tr>
      <td class="wrap rule-name">
        <strong>{id}</strong>
        <div class="soft small wrap">{layer}</div>
      </td>
      <td>
        <Badge tone={toneOf(over)}>{over}</Badge>
      </td>
      <td class="wrap small">
        <Concerned tools={tools} names={toolNames} />
      </td>
      <td class="wrap small">
        {sum === undefined ? 'calls' : `the sum of ${sum}`}
        <div class="soft">for {by}</div>
      </td>
      <td class="number">
        {countOf(max)}
        <div class="soft small">per {per}</div>
      </td>
    </tr>
  );
}
