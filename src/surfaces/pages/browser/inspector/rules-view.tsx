/** The rules, and how often each has matched. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { QuotaLine } from '../../inspector-session-wire.ts';
import type { RuleLine } from '../../inspector-wire.ts';
import { Badge, Empty, Scroll, toneOf } from '../parts/elements.tsx';
import { countOf, several } from '../parts/words.ts';
import { Concerned } from './in-words.tsx';
import type { ViewProps } from './place.ts';

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

/** The quotas, as they were written. */
function QuotasCard({ quotas }: { readonly quotas: readonly QuotaLine[] }): JSX.Element | null {
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
