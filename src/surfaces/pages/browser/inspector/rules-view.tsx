/** The rules, and how often each has matched. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { RuleLine } from '../../inspector-wire.ts';
import { Badge, toneOf } from '../parts/badge.tsx';
import { Empty } from '../parts/empty.tsx';
import { Scroll } from '../parts/scroll.tsx';
import { countOf, several } from '../parts/words.ts';
import { Concerned } from './concerned.tsx';
import type { ViewProps } from './place.ts';
import { QuotasCard } from './quotas-card.tsx';

export function RulesView({ known, go }: ViewProps): JSX.Element {
  const [onlyUnused, setOnlyUnused] = useState(false);
  const all = known.state?.rules ?? [];
  const rules = onlyUnused ? all.filter(({ unused }) => unused) : all;
  const most = Math.max(1, ...all.map(({ matched }) => matched));
  const unused = all.filter((rule) => rule.unused).length;
  if (all.length === 0 && (known.state?.quotas ?? []).length === 0)
    return (
      <Empty title="No rules and no quotas">
        Those of the registry, of scopes and of profiles appear here, rules with what they have
        matched.
      </Empty>
    );
  return (
    <Scroll name="scroll" label="Rules">
      <div class="column">
        <section class="card">
          <header>
            <h2 class="grow">{several(all.length, 'rule')}</h2>
            <label class="row small">
              <input
                type="checkbox"
                checked={onlyUnused}
                onChange={({ currentTarget }) => setOnlyUnused(currentTarget.checked)}
              />
              only the {countOf(unused)} that had no effect yet
            </label>
          </header>
          <Scroll name="table" label="Table of rules">
            <table>
              <thead>
                <tr>
                  <th scope="col">Rule</th>
                  <th scope="col">Effect</th>
                  <th scope="col">Concerns</th>
                  <th scope="col" class="number">
                    Matched
                  </th>
                  <th scope="col" class="number">
                    Would change
                  </th>
                </tr>
              </thead>
              <tbody>
                {rules.map((rule, at) => (
                  <RuleRow key={`${rule.layer} ${rule.id} ${at}`} rule={rule} most={most} go={go} />
                ))}
              </tbody>
            </table>
          </Scroll>
        </section>
        <QuotasCard quotas={known.state?.quotas ?? []} />
        {(known.state?.more.rules ?? 0) > 0 ? (
          <p class="soft">{several(known.state?.more.rules ?? 0, 'more rule')} not shown.</p>
        ) : null}
      </div>
    </Scroll>
  );
}

function RuleRow({
  rule,
  most,
  go,
}: {
  readonly rule: RuleLine;
  readonly most: number;
  readonly go: ViewProps['go'];
}): JSX.Element {
  const { id, layer, effect, shadow, reason, conditions, matched, wouldChange, unused } = rule;
  return (
    <tr>
      <td class="wrap rule-name">
        <button type="button" class="link" onClick={() => go({ view: 'calls', text: id })}>
          {id}
        </button>
        <div class="soft small wrap">
          {layer}
          {reason === undefined ? '' : `, reason ${reason}`}
        </div>
      </td>
      <td>
        <span class="row">
          <Badge tone={toneOf(effect)}>{effect}</Badge>
          {shadow ? (
            <Badge tone="shadow" title="Judged and counted, never enforced">
              shadow
            </Badge>
          ) : null}
        </span>
      </td>
      <td class="wrap small">
        <Concerned tools={rule.tools} names={rule.toolNames} />
        {conditions === '' ? null : <div class="mono soft wrap">{conditions}</div>}
      </td>
      <td class="number">
        {unused ? <Badge>no effect yet</Badge> : countOf(matched)}
        {matched === 0 ? null : (
          <span class="meter" aria-hidden="true">
            <i
              class={effect === 'deny' ? 'bad' : ''}
              style={{ width: `${(100 * matched) / most}%` }}
            />
          </span>
        )}
      </td>
      <td class="number">{shadow ? countOf(wouldChange) : <span class="soft">–</span>}</td>
    </tr>
  );
}
